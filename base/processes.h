#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"

namespace gnomon::base {

/// Parallel map over forked processes: calls work(0) … work(count - 1), distributed over `jobs` processes,
/// and returns the results in the order of their indices. It is meant for work that cannot share a process,
/// such as SimGrid's engine, which is a singleton. With one job or one item, everything runs in this process.
///
/// `work` sees a copy of the memory at the time of the call. `progress` is called in this process after every
/// item; an exception that it throws terminates the worker processes and propagates. InputError and Failure
/// of `work` are rethrown, those of the lowest index first. Throws Failure if a process cannot be created or
/// dies. Precondition: the process has no other threads.
std::vector<std::string> in_processes(std::int64_t count, int jobs,
                                      const std::function<std::string(std::int64_t)>& work,
                                      const Progress& progress, std::string_view what);

}  // namespace gnomon::base
