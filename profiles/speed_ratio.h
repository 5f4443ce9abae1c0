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
  /// Half width of the 95 % confidence interval of `factor`, over it. It leaves out how precisely the stage
  /// was measured. 0 on the same machine.
  double interval = 0;
  std::vector<Work> by;        ///< kinds that make up at least 10 % of the stage, in descending order
  std::vector<Work> left_out;  ///< kinds measured on only one of the machines
};

/// What of a stage the counts do not explain: as if so much of it was work of a kind that is not known. The
/// times of kinds that two machines measured, each relative to the other, differ from the stage's by their
/// spread, and the stage's error has that spread times this share as its standard deviation. Fitted to the
/// errors in bench/results/machines.json, where it is cross-validated, together with visit_deviation.
inline constexpr double unexplained_share = 0.2;

/// Standard deviation of the error, over the stage's time, between machines whose kinds of work are all as
/// fast: what remains even between two visits to one machine.
inline constexpr double visit_deviation = 0.1;

/// Half width of a 95 % interval over these deviations: Student's, as they were estimated from five jobs.
inline constexpr double model_half_width = 2.78;

/// Each part's time on the new machine is its measured time, times its counts over the new machine's speeds,
/// over its counts over the measured machine's speeds:
///
///     t' = t (Σ c / s') / (Σ c / s).
///
/// So the counts need no more than the right proportions, and where all speeds differ by one factor the
/// counts do not matter. The interval adds, as of independent errors, those of both machines' speeds by the
/// linearised ratio, what counts do not explain, and that machines change between visits. A speed that is the
/// same in both documents, bit for bit, is one measurement, whose error cancels.
///
/// None if the kinds measured on both machines make up less than half of a part on the measured machine, or
/// if a part has a time but no work.
std::optional<SpeedRatio> speed_ratio(std::span<const MeasuredPart> parts, const Executor& from,
                                      const Executor& to);

/// How many times as fast `threads` of a machine's cores do some work together as one of them alone: between
/// one core and all by a power law. None if its speeds are of one core only.
std::optional<double> speedup_of(std::span<const Amount> work, const MachineSpeeds& speeds, int threads);

/// What several threads do relative to one, on another machine over a first one.
struct SpeedupRatio {
  double factor = 1;
  /// Half width of the 95 % confidence interval of `factor`, over it, by the same deviations as a stage's
  /// (SpeedRatio): the kinds' own ratios of speed-ups spread around the stage's, and machines change between
  /// visits. 0 for one thread.
  double interval = 0;
};

/// The ratio of speedup_of() on `to` to that on `from`. Without `from` it is the speed-up on `to`, for a job
/// that was measured on one core. None if one of the machines has speeds of one core only.
std::optional<SpeedupRatio> speedup_ratio(std::span<const Amount> work, const MachineSpeeds* from,
                                          const MachineSpeeds& to, int threads);

/// "random_lines, inserts".
std::string text_of(const std::vector<Work>& kinds);

}  // namespace gnomon::profiles
