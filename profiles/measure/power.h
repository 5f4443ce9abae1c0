#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Energy consumed by the processors, from the kernel's counters (powercap: Intel and AMD RAPL).
class EnergyCounter {
 public:
  /// `zones` is the kernel's directory. Without a readable processor counter (on many systems only root may
  /// read them), works() is false.
  explicit EnergyCounter(const std::filesystem::path& zones = "/sys/class/powercap");

  bool works() const { return !packages_.empty(); }
  /// Joules since construction. Counters wrap around after some minutes, so it must be called more often.
  double joules();

 private:
  struct Package {
    std::filesystem::path energy;
    double range_uj = 0;  ///< at which it wraps around
    double last_uj = 0;
  };
  std::vector<Package> packages_;
  double joules_ = 0;
};

/// Measures the idle power of the processors and the additional power of each of `cores` busy cores. Unknown
/// if the counter does not work or does not increase under load. Memory, disks, GPUs and losses are not
/// included. Takes `time_limit_s`. Throws Interrupted when `stop` is set.
Running measure_power(EnergyCounter& counter, int cores, double time_limit_s,
                      const std::atomic<bool>* stop = nullptr);

/// measure_power() by this machine's counters, for long enough that they move.
Running measure_power_here(int cores, const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::profiles
