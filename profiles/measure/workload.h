#pragma once

#include <atomic>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

struct MeasureOptions {
  double asked_interval = 0.02;  ///< half width over mean of every stage's 95 % confidence interval
  double time_limit_s = 20;      ///< of everything; what runs when it is over is finished
  base::Progress progress = {};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  runtime::DeviceOptions device = {};       ///< what trains
};

/// Measures this machine and what a job's stages take on it, with a model of its own that is thrown away: no
/// training before or after is touched.
///
/// Work is done in rounds until all stages' intervals are as narrow as asked or the time is over. Each round
/// runs, on the very threads and slots that training uses,
///   - mini-batches one after another, stage by stage: the stages alone;
///   - with more than one core, others with two kinds of stages side by side: contention;
///   - several workers together: worker efficiency;
///   - the device's stages with more threads: their speed-up.
/// After them come memory, caches, and for a graph from a store its disk (disk.h).
///
/// All quotients are of times from the same rounds, so a machine that becomes slower or faster meanwhile does
/// so for both sides. Throws InputError (a job or graph that cannot be trained), Interrupted.
Profile measure(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options);

}  // namespace gnomon::profiles
