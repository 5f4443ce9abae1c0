#pragma once

#include <optional>
#include <string>

#include "apps/progress_bar.h"
#include "base/progress.h"

namespace gnomon::apps {

/// Text on stdout, and a progress bar on stderr that is cleared for it. Not thread-safe.
class Console {
 public:
  /// A quiet console prints no text, as stdout will carry one document.
  explicit Console(bool quiet) : quiet_(quiet) {}

  /// A callback for progress reports. The console must outlive it.
  base::Progress progress();
  /// Clears the bar and prints the text.
  void say(const std::string& text);
  /// Clears the bar.
  void wipe() { bar_.reset(); }

 private:
  bool quiet_;
  std::optional<ProgressBar> bar_;
};

}  // namespace gnomon::apps
