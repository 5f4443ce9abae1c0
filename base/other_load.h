#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/document.h"

namespace gnomon::base {

/// Processor time of some cores since the machine started, in seconds over all of them.
struct CpuTimes {
  double busy_s = 0;
  double idle_s = 0;
  double steal_s = 0;  ///< in which the hypervisor ran other guests
};

/// Reads the lines "cpu0 …", "cpu1 …" of /proc/stat for these cores; `ticks_per_s` is sysconf(_SC_CLK_TCK).
/// Nothing if the text has none of them.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, std::span<const int> cores,
                                        double ticks_per_s);

/// What others took of the time of the cores that this process may use, as shares of it from 0 to 1.
struct OtherLoad {
  double processes_share = 0;  ///< other processes of this machine
  double steal_share = 0;      ///< other guests of the host that this virtual machine runs on

  /// Whether they took so much that measured times are likely to be too long.
  bool is_busy() const { return processes_share + steal_share >= 0.05; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("processes_share", self.processes_share, Range{0, 1});
    f("steal_share", self.steal_share, Range{0, 1});
  }
  bool operator==(const OtherLoad&) const = default;
};

/// The load between two readings, of which this process and its children took `own_s`. Nothing if they are
/// less than half a second of processor time apart, in which ticks are too coarse.
std::optional<OtherLoad> load_between(const CpuTimes& begin, const CpuTimes& end, double own_s);

/// Notices a busy machine: reads /proc/stat and this process's own time when it is made and in load().
class LoadMeter {
 public:
  LoadMeter();
  /// Since the meter was made. Nothing if /proc/stat cannot be read, or too soon.
  std::optional<OtherLoad> load() const;

 private:
  std::optional<CpuTimes> begin_;
  double own_begin_s_;
};

/// "the machine was busy: other processes took 34 % of the time of its cores, …"; empty if it was not.
std::string busy_text(const std::optional<OtherLoad>& load);

}  // namespace gnomon::base
