#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// The executor of a stage on a machine.
struct Executor {
  const MachineSpeeds& speeds;
  bool is_gpu = false;  ///< the stage runs on its GPU, not on its cores
};

/// A measured part of a stage.
struct MeasuredPart {
  double seconds = 0;
  std::vector<Amount> work;
};

/// The ratio of a stage's time on another machine to its measured time.
struct SpeedRatio {
  double factor = 1;
  /// Half width of the 95 % confidence interval of `factor`, relative to it. It includes the spread of both
  /// machines' speeds and the uncertainty of the counts (count_uncertainty), but not that of the stage's
  /// measurement. 0 on the same machine.
  double interval = 0;
  std::vector<Work> by;        ///< kinds that make up at least 10 % of the stage, in descending order
  std::vector<Work> left_out;  ///< kinds measured on only one of the machines
};

/// Counts are assumed to be within this factor of a stage's actual work with probability 95 %. To be compared
/// with the measurements in bench/results/machines.json.
inline constexpr double count_uncertainty = 2;

/// Each part's time on the new machine is its measured time, times its counts over the new machine's speeds,
/// over its counts over the measured machine's speeds:
///
///     t' = t (Σ c / s') / (Σ c / s).
///
/// Only the proportions of the counts matter, and not even these if all speeds differ by the same factor. The
/// interval is that of the linearised ratio with independent errors. A bit-identical speed in both documents
/// is one measurement, whose error cancels.
///
/// None if the kinds measured on both machines make up less than half of a part on the measured machine, or
/// if a part has a time but no work.
std::optional<SpeedRatio> speed_ratio(std::span<const MeasuredPart> parts, const Executor& from,
                                      const Executor& to);

/// "random_lines, inserts".
std::string text_of(const std::vector<Work>& kinds);

}  // namespace gnomon::profiles
