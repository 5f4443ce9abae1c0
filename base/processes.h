#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"

namespace gnomon::base {

/// Calls work(0) … work(count - 1) in `jobs` forked processes, each number in one of them, and returns what
/// they returned by number. For work that cannot share a process, as SimGrid's engine, of which there is one
/// a process. With one job, or one number, it all happens in this process.
///
/// `work` sees memory as it was when this was called. `progress` is told of every finished number, in this
/// process; what it throws ends the others. InputError and Failure come out of the first number that threw
/// them; throws Failure when a process cannot be made or dies. No thread but the caller's may run.
std::vector<std::string> in_processes(std::int64_t count, int jobs,
                                      const std::function<std::string(std::int64_t)>& work,
                                      const Progress& progress, std::string_view what);

}  // namespace gnomon::base
