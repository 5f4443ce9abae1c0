#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// The energy that the processors have taken, by the kernel's counters (powercap: RAPL of Intel's and AMD's).
class EnergyCounter {
 public:
  /// `zones` is the kernel's directory. Where it holds no processor's counter, or none that may be read (they
  /// are root's on many systems), works() is false.
  explicit EnergyCounter(const std::filesystem::path& zones = "/sys/class/powercap");

  bool works() const { return !packages_.empty(); }
  /// Since it was made. Counters start over after some minutes, so it must be asked more often.
  double joules();

 private:
  struct Package {
    std::filesystem::path energy;
    double range_uj = 0;  ///< where it starts over
    double last_uj = 0;
  };
  std::vector<Package> packages_;
  double joules_ = 0;
};

/// Measures the power of the idle processors and what each of `cores` busy cores adds. Unknown if the counter
/// does not work or does not rise under load. Memory, disks, GPUs and losses are not included. Takes
/// `time_limit_s`. Throws Interrupted when `stop` is set.
Running measure_power(EnergyCounter& counter, int cores, double time_limit_s,
                      const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::profiles
