#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "base/progress.h"
#include "profiles/measure/statistics.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// The CPU's model name, or "unknown CPU".
std::string cpu_name();

/// Options of measure_machine().
struct MachineOptions {
  StopRule rule = {};                       ///< for each bandwidth
  std::size_t copy_bytes = 0;               ///< size of one copy, a mini-batch's; at least 4 MiB is used
  bool brief = false;                       ///< less memory, on huge pages, which saves time; no power
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// Measures the machine, without its contention, which depends on the workload (workload.h). `converged`
/// becomes false if the confidence interval of a bandwidth is wider than asked.
MachineProfile measure_machine(const MachineOptions& options, bool& converged);

/// Throws base::Interrupted when `stop` is set.
void throw_if_stopped(const std::atomic<bool>* stop);

}  // namespace gnomon::profiles
