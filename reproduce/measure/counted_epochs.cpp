#include "reproduce/measure/counted_epochs.h"

#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/document.h"
#include "profiles/measure/accesses.h"

namespace gnomon::reproduce {

const profiles::SampledEpochs& CountedEpochs::of(const graph::Graph& graph, const plan::Job& job,
                                                 const base::Progress& progress,
                                                 const std::atomic<bool>* stop) {
  const auto key = graph.name + base::write_value(job).dump();
  const auto found = sampled_.find(key);
  if (found != sampled_.end()) {
    return found->second;
  }
  const profiles::AccessOptions all{std::numeric_limits<double>::infinity(), stop, progress};
  return sampled_.emplace(key, profiles::sample_two_epochs(graph, job, all)).first->second;
}

profiles::WorkloadProfile counted_workload(const graph::Graph& graph, const plan::Job& job,
                                           const profiles::SampledEpochs& epochs) {
  profiles::WorkloadProfile workload;
  workload.graph = graph.name;
  workload.vertices = graph.num_vertices();
  workload.edges = graph.num_edges();
  workload.job = job;
  workload.batches = std::ssize(epochs.first.batches);
  for (const auto* epoch : {&epochs.first, &epochs.second}) {
    for (const auto& batch : epoch->batches) {
      workload.batch_vertices +=
          static_cast<double>(batch.vertices) / 2 / static_cast<double>(workload.batches);
    }
  }
  profiles::set_accesses(graph, job, epochs, workload);
  return workload;
}

double batch_bytes(const graph::Graph& graph, const profiles::BatchCounts& batch) {
  double bytes = static_cast<double>(batch.vertices) * static_cast<double>(graph.features.row_bytes());
  for (const auto& hop : batch.hops) {
    bytes += 4 * static_cast<double>(hop.edges) + 8 * static_cast<double>(hop.destinations);
  }
  return bytes;
}

graph::Graph with_edge_weights(const graph::Graph& graph, std::uint64_t seed) {
  if (!graph.edge_weights.empty()) {
    return graph;
  }
  struct Weighted {
    std::vector<float> weights;
    std::shared_ptr<const void> graph;
  };
  auto storage = std::make_shared<Weighted>();
  storage->graph = graph.storage;
  storage->weights.reserve(static_cast<std::size_t>(graph.num_edges()));
  std::mt19937_64 random(seed);
  for (std::int64_t edge = 0; edge < graph.num_edges(); ++edge) {
    storage->weights.push_back(static_cast<float>((random() >> 40) + 1) * 0x1p-24F);
  }
  auto weighted = graph;
  weighted.name += ", random weights";
  weighted.edge_weights = storage->weights;
  weighted.storage = std::move(storage);
  return weighted;
}

}  // namespace gnomon::reproduce
