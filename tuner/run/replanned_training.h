#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"
#include "profiles/profile.h"
#include "tuner/run/replanning.h"
#include "tuner/run/training.h"

namespace gnomon::tuner {

/// Throws InputError unless the profile is of the graph, the job, the run's kind of device and at most this
/// machine's cores, and the run's plan may be changed.
void check_replanning(const profiles::Profile& profile, const graph::Graph& graph, const TrainingRun& run);

/// The callbacks that connect a Replanner to a TrainingRun.
struct Stretches {
  std::function<runtime::Stretch(std::int64_t left)> next;
  std::function<void(const runtime::StretchReport&)> on_stretch;
};

/// Returns the callbacks of a replanner, which must outlive them. Each change is written to the run's
/// plan.json, so that a resumed run continues with it; each comparison is written to its replanning.json and
/// passed to `on_replanned`, and a change once more when it is known what it brought.
Stretches stretches_of(Replanner& replanner, const RunFiles& files,
                       const std::function<void(const Replanned&)>& on_replanned = {});

/// The result of a training with re-planning.
struct ReplannedTraining {
  TrainingResult training;
  std::vector<Replanned> log;
};

/// run_training() with a Replanner's stretches. Throws what check_replanning() throws.
ReplannedTraining train_replanning(const graph::Graph& graph, TrainingRun run,
                                   const profiles::Profile& profile, const ReplanningTerms& terms = {},
                                   const std::function<void(const Replanned&)>& on_replanned = {});

}  // namespace gnomon::tuner
