#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/workload.h"
#include "profiles/profile.h"
#include "tuner/evidence/measurement_choice.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// A profile that was measured to choose a plan by.
struct ChoiceProfile {
  profiles::Profile profile;
  /// How much longer the chosen plan's epoch is expected to be than the fastest plan's, relative, by what the
  /// profile leaves uncertain; none if everything was measured.
  std::optional<double> regret{};
};

/// Relative regret below which measuring ends.
inline constexpr double regret_tolerance = 0.005;

/// profiles::measure(), with those measurements first that lower the expected regret of choosing among the
/// plans that `tuning` allows most per second (MeasurementChoice). With `options.precise` all others follow,
/// otherwise it ends when the regret is at most regret_tolerance. Everything is measured if approximate plans
/// are allowed, or if the graph takes more than half of the memory, so that plans that read the disk may be
/// the only ones. Without `options.machine` this machine's stored speeds are used, which are measured the
/// first time (profiles::known_machine). Corrections that this user's earlier runs teach are added. Throws
/// InputError, Interrupted.
ChoiceProfile measure_for_choice(const graph::Graph& graph, const plan::Job& job,
                                 profiles::MeasureOptions options, const TuningOptions& tuning,
                                 MeasureOrder order = MeasureOrder::value);

}  // namespace gnomon::tuner
