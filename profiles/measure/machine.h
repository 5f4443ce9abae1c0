#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "base/progress.h"
#include "profiles/measure/statistics.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Cores this process may use: its affinity mask, cut by the control group's CPU quota; at least 1.
int usable_cores();

/// Bytes of memory this process may use: the machine's, cut by the control group's limit.
double usable_memory_bytes();

/// The CPU's model as /proc/cpuinfo calls it, or the architecture.
std::string cpu_name();

/// The CPU quota in cores (1.5 is one and a half) and the memory limit of this process's control group and
/// all groups above it, whichever is the lowest; empty without a limit. Versions 1 and 2 of control groups;
/// `root` is where /proc and /sys are looked for.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");
std::optional<double> memory_limit_bytes(const std::filesystem::path& root = "/");

/// What a measurement of the machine asks for.
struct MachineOptions {
  StopRule rule = {};                       ///< for each bandwidth
  std::size_t copy_bytes = 0;               ///< size of one copy, a mini-batch's; at least 4 MiB is used
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// The machine's facts; contention is left at 1, it depends on the workload (workload.h). `converged` becomes
/// false when a bandwidth's interval is wider than asked.
MachineProfile measure_machine(const MachineOptions& options, bool& converged);

/// Throws base::Interrupted when `stop` is set.
void throw_if_stopped(const std::atomic<bool>* stop);

}  // namespace gnomon::profiles
