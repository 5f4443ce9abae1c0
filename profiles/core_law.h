#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

// How stages scale with the number of cores. Each kind of work of a stage (stage_work.h) has a gain, its rate
// on t threads over that on one, and the stage's speed-up is M(t) = Σ s / Σ (s / gain), where s is the time
// of a kind on one thread. Gains are measured up to the threads n of the machine's speeds, and beyond these:
// - work called by one thread (operations) has none: it is the serial part;
// - compute-bound work scales with the cores, t / n times the gain on n. Where hardware threads share a core,
//   that gain is the one of simultaneous multithreading, and each further core adds as much;
// - memory-bound work lies between two beliefs: the bandwidth stays, and the saturation measured on n threads
//   goes on; or it grows with the cores, t / n times. A known bandwidth raises the limit of the saturation.
// Without speeds all gains are beliefs, and nominal rates weigh the kinds.

/// A range that is believed to contain a speed-up.
struct SpeedupRange {
  double low = 1;
  double high = 1;
};

/// The cores that a stage runs on.
struct CoreFacts {
  const MachineSpeeds* speeds = nullptr;  ///< of one thread and of several; null: unknown
  int measured = 1;                       ///< cores of the machine with these speeds
  int physical = 0;                       ///< of these, cores that share no arithmetic units; 0: unknown
  /// Memory bandwidth over that of the machine with `measured` cores; none: unknown.
  std::optional<double> bandwidth_growth{};
};

/// One kind of work on one thread, and its gain on several.
struct WorkTime {
  Work work = Work::copies;
  double count = 0;
  double per_s = 0;    ///< rate of one thread
  double seconds = 0;  ///< on one thread
  SpeedupRange gain;
  bool is_measured = false;  ///< whether the machine's speeds hold both
};

/// Whether the rate is limited by arithmetic or a core's own caches, and not by memory.
bool is_compute_bound(const Amount& amount);

/// The kinds of some work on `threads` threads.
std::vector<WorkTime> work_times(std::span<const Amount> work, const CoreFacts& facts, int threads);

/// M(t) of the law. Work without counts may be memory-bound.
SpeedupRange speedup_range(std::span<const Amount> work, const CoreFacts& facts, int threads);

/// Whether at least half of the time of some work is of kinds whose gains the machine's speeds hold.
bool is_by_speeds(std::span<const Amount> work, const CoreFacts& facts);

/// Whether a core has several hardware threads: fewer physical cores than cores, or, as virtual machines
/// often hide it, threads on all cores that do clearly less compute-bound work than as many cores would.
bool shares_cores(const Cpu& cpu, const MachineSpeeds* speeds);

/// What threads do together.
enum class Together : std::uint8_t {
  team,     ///< one mini-batch: values of points are speed-ups
  workers,  ///< a mini-batch each: values of points are the speed of each
};

/// The points of a stage and, beyond them, points up to `threads` by the law, calibrated by the last measured
/// one: S(t) = S(n) M(t) / M(n). Its lower belief takes what S(n) falls short of M(n) for serial work that is
/// not counted (Amdahl's law). A single point of several threads is a time on so many, not a speed-up:
/// further workers are then as fast each, by the upper belief. Otherwise the value is the geometric mean of
/// both beliefs, and its interval contains them and, for each doubling of threads, what else may change. More
/// threads are never slower.
std::vector<ScalingPoint> continued(std::vector<ScalingPoint> points, std::span<const Amount> work,
                                    const CoreFacts& facts, int threads, Together together);

}  // namespace gnomon::profiles
