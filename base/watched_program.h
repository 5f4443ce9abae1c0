#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::base {

/// What a program wrote and how it ended.
struct ProgramOutcome {
  int exit_code = 0;         ///< minus the signal that ended it, if one did
  std::string out;           ///< its standard output
  std::string error;         ///< its standard error
  bool interrupted = false;  ///< by the watcher
};

/// Watches a program that runs: called by the thread that waits for it with each line that the program
/// reports, and with an empty one at least ten times a second. Returns true to interrupt it.
using Watcher = std::function<bool(std::string_view line)>;

/// Environment variable that tells a watched program the number of the open file to which it may report.
inline constexpr const char* report_file_variable = "GNOMON_REPORT_FILE";

/// Runs a program in a process group of its own and waits for it. An interrupted one gets SIGINT, and
/// SIGKILL if it has not ended ten seconds later. Throws Failure, which names the program, if it cannot be
/// started; passes exceptions of `watch` on when the program has ended.
ProgramOutcome run_watched(const std::string& program, const std::vector<std::string>& arguments,
                           const Watcher& watch);

}  // namespace gnomon::base
