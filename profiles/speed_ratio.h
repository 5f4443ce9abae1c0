#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// A machine as it does a stage.
struct Executor {
  const MachineSpeeds& speeds;
  bool is_gpu = false;  ///< the stage runs on its GPU, not on its cores
};

/// A part of a stage that was measured.
struct MeasuredPart {
  double seconds = 0;
  std::vector<Amount> work;
};

/// The time of a stage on another machine over its measured time.
struct SpeedRatio {
  double factor = 1;
  /// Half width of the 95 % confidence interval of `factor`, over it: by the spread of both machines' speeds,
  /// and by the counts, each of which may be off by count_uncertainty. It leaves out how precisely the stage
  /// was measured. 0 on the same machine.
  double interval = 0;
  std::vector<Work> by;        ///< kinds that make up at least a tenth of the stage, the largest first
  std::vector<Work> left_out;  ///< kinds that only one of the machines has measured
};

/// A count is within this factor of what a stage really does, 95 of 100 times: an assumption, to be held
/// against measurements in bench/results/machines.json.
inline constexpr double count_uncertainty = 2;

/// Each part's time on the new machine is its measured time, times its counts over the new machine's speeds,
/// over its counts over the measured machine's speeds:
///
///     t' = t (Σ c / s') / (Σ c / s).
///
/// So the counts need no more than the right proportions, and where all speeds differ by one factor the
/// counts do not matter. The interval is that of the linearised ratio, all errors independent. A speed that
/// is the same in both documents, bit for bit, is one measurement, whose error cancels.
///
/// None if the kinds that both machines have measured make up less than half of a part on the measured
/// machine, or if a part has a time but no work.
std::optional<SpeedRatio> speed_ratio(std::span<const MeasuredPart> parts, const Executor& from,
                                      const Executor& to);

/// "random_lines, inserts".
std::string text_of(const std::vector<Work>& kinds);

}  // namespace gnomon::profiles
