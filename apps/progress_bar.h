#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/progress.h"

namespace gnomon::apps {

/// Whether stderr is a terminal that can redraw a line.
bool stderr_is_terminal();

/// Shows progress on stderr: a bar with the time left, by the speed since the stage began here, on a
/// terminal, once a stage has lasted half a second; elsewhere one line for each stage that has lasted two
/// seconds. Wiped when destroyed. A program that is watched (base/watched_program.h) reports lines "DONE
/// TOTAL STAGE" instead. Not thread-safe.
class ProgressBar {
 public:
  ProgressBar();
  /// For tests: draws on `out`, as a terminal or not; `now` is its clock.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  ProgressBar(std::ostream& out, bool terminal, Clock now);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// A callback for progress reports. The bar must outlive it.
  base::Progress progress();

  /// Prints a line (an epoch's result, say) above the bar.
  void note(std::string_view line);

 private:
  void update(std::string_view what, std::int64_t done, std::int64_t total);
  void report(std::int64_t done, std::int64_t total);
  void draw(double elapsed_s, std::int64_t done, std::int64_t total);
  void wipe();

  std::ostream& out_;
  bool terminal_;
  Clock now_;
  std::string stage_;
  std::chrono::steady_clock::time_point stage_began_;
  std::chrono::steady_clock::time_point last_drawn_;
  std::int64_t done_before_ = 0;  ///< items of the stage that were done when it began here
  bool announced_ = false;
  bool on_screen_ = false;
  int report_file_ = -1;  ///< of a watched program
};

}  // namespace gnomon::apps
