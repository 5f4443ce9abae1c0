#pragma once

#include <atomic>
#include <map>
#include <string>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/sampled_epochs.h"
#include "profiles/profile.h"

namespace gnomon::reproduce {

/// Two sampled epochs for each graph and job, sampled when they are first needed.
class CountedEpochs {
 public:
  const profiles::SampledEpochs& of(const graph::Graph& graph, const plan::Job& job,
                                    const base::Progress& progress, const std::atomic<bool>* stop);

 private:
  std::map<std::string, profiles::SampledEpochs> sampled_;
};

/// Returns the counts of two epochs as in a profile, without the times of stages.
profiles::WorkloadProfile counted_workload(const graph::Graph& graph, const plan::Job& job,
                                           const profiles::SampledEpochs& epochs);

/// Returns the bytes of a mini-batch: its feature rows, four bytes an edge, and a row pointer of eight for
/// each vertex whose neighbours are drawn.
double batch_bytes(const graph::Graph& graph, const profiles::BatchCounts& batch);

/// Returns the graph, with edge weights drawn uniformly from (0, 1] if it has none.
graph::Graph with_edge_weights(const graph::Graph& graph, std::uint64_t seed);

}  // namespace gnomon::reproduce
