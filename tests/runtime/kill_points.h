#pragma once

#include <string>

/// Moments at which a process kills itself with SIGKILL, named by what it is about to do: the same moments on
/// any machine, however slow.
namespace gnomon::runtime {

/// The environment variable that names the moment as "ACT NAME NUMBER": the process dies at the ACT to NAME
/// which NUMBER others go before. The temporary of a file is FILE.tmp, without the process's number.
///
///     train stage 13              before the 14th training stage
///     write log.jsonl 0           after half of the first write to log.jsonl
///     flush checkpoint.pt.tmp 2   before the third fsync of a temporary of checkpoint.pt
///     rename checkpoint.pt 2      before the third rename to checkpoint.pt
///     renamed checkpoint.pt 2     after it
inline constexpr const char* kill_variable = "GNOMON_TEST_KILL";

/// Dies here if this is the moment.
void reach(const std::string& act, const std::string& name);

}  // namespace gnomon::runtime
