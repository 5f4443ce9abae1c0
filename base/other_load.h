#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/document.h"

namespace gnomon::base {

/// CPU time of a set of cores since boot, in seconds, summed over the cores.
struct CpuTimes {
  double busy_s = 0;
  double idle_s = 0;
  double steal_s = 0;  ///< in which the hypervisor ran other guests
};

/// Reads the lines "cpu0 …", "cpu1 …" of /proc/stat for these cores; `ticks_per_s` is sysconf(_SC_CLK_TCK).
/// Empty if the text has no such line.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, std::span<const int> cores,
                                        double ticks_per_s);

/// The CPU time taken by others on the cores that this process may use, as shares from 0 to 1.
struct OtherLoad {
  double processes_share = 0;  ///< other processes of this machine
  double steal_share = 0;      ///< other guests of the host that this virtual machine runs on

  /// Whether the load is high enough to bias measured times upwards.
  bool is_busy() const { return processes_share + steal_share >= 0.05; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("processes_share", self.processes_share, Range{0, 1});
    f("steal_share", self.steal_share, Range{0, 1});
  }
  bool operator==(const OtherLoad&) const = default;
};

/// Returns the load between two readings, given that this process and its children took `own_s` of CPU time.
/// Empty if less than half a second of CPU time lies between them, as the counters are too coarse for that.
std::optional<OtherLoad> load_between(const CpuTimes& begin, const CpuTimes& end, double own_s);

/// Detects a busy machine from /proc/stat and this process's own CPU time, read at construction and in
/// load().
class LoadMeter {
 public:
  LoadMeter();
  /// Returns the load since construction. Empty if /proc/stat cannot be read, or if it is called too early.
  std::optional<OtherLoad> load() const;

 private:
  std::optional<CpuTimes> begin_;
  double own_begin_s_;
};

/// "the machine was busy: other processes took 34 % of the time of its cores, …"; empty if it was not.
std::string busy_text(const std::optional<OtherLoad>& load);

}  // namespace gnomon::base
