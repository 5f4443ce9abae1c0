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

/// Called by the waiting thread with each line that the program reports, and with an empty line at least ten
/// times a second. Returns true to interrupt the program.
using Watcher = std::function<bool(std::string_view line)>;

/// Environment variable that holds the file descriptor to which a watched program may report.
inline constexpr const char* report_file_variable = "GNOMON_REPORT_FILE";

/// Runs a program in a process group of its own and waits for it. An interrupted one gets SIGINT, and
/// SIGKILL if it has not ended ten seconds later. Throws Failure, which names the program, if it cannot be
/// started; rethrows exceptions of `watch` after the program has ended.
ProgramOutcome run_watched(const std::string& program, const std::vector<std::string>& arguments,
                           const Watcher& watch);

}  // namespace gnomon::base
