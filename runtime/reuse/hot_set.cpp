#include "runtime/reuse/hot_set.h"

#include <algorithm>

#include "base/index.h"
#include "graph/epoch_order.h"

namespace gnomon::runtime {
namespace {

using base::at;

/// Bytes of a vertex's feature row in a mini-batch.
std::int64_t row_bytes(const graph::Features& features, graph::VertexId vertex) {
  if (!features.is_sparse()) {
    return features.row_bytes();
  }
  const std::int64_t entries = features.indptr[at(vertex) + 1] - features.indptr[at(vertex)];
  const std::int64_t value_bytes = features.data == nullptr ? 0 : bytes_of(features.type);
  return entries * (4 + value_bytes) + 8;
}

}  // namespace

BottomVisits count_bottom(const PlacedGraph& graph, const plan::Job& job, int threads,
                          const base::Progress& progress) {
  kernels::cpu::Sampler sampler(graph.topology, job.fanouts, kernels::cpu::EdgeIds::omit,
                                kernels::cpu::BatchThreads{threads, {}, {}});
  BottomVisits visits;
  visits.destinations.resize(at(graph.graph.num_vertices()));
  const std::int64_t batches = graph::num_batches(std::ssize(graph.graph.train), job.batch_size);
  kernels::MiniBatch sampled;
  for (std::size_t epoch = 0; epoch < visits.vertices.size(); ++epoch) {
    const auto order = graph::epoch_order(graph.graph.train, job.seed, epoch);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      base::report(progress, "counting visits", static_cast<std::int64_t>(epoch) * batches + batch,
                   2 * batches);
      sampler.sample({job.seed, epoch, static_cast<std::uint64_t>(batch)},
                     graph::batch_seeds(order, job.batch_size, batch), sampled);
      for (std::int64_t i = 0; i < sampled.blocks.back().num_destinations; ++i) {
        ++visits.destinations[at(sampled.vertices[static_cast<std::size_t>(i)])];
      }
      visits.vertices[epoch] += std::ssize(sampled.vertices);
      for (const auto vertex : sampled.vertices) {
        visits.feature_bytes[epoch] += row_bytes(graph.graph.features, vertex);
      }
    }
  }
  return visits;
}

HotSet rank_by_visits(const std::vector<std::uint32_t>& visits) {
  HotSet set;
  for (std::size_t vertex = 0; vertex < visits.size(); ++vertex) {
    if (visits[vertex] > 0) {
      set.vertices.push_back(static_cast<graph::VertexId>(vertex));
    }
  }
  std::stable_sort(set.vertices.begin(), set.vertices.end(),
                   [&](graph::VertexId a, graph::VertexId b) { return visits[at(a)] > visits[at(b)]; });
  set.ranks.assign(visits.size(), HotSet::never);
  for (std::size_t rank = 0; rank < set.vertices.size(); ++rank) {
    set.ranks[at(set.vertices[rank])] = static_cast<std::uint32_t>(rank);
  }
  return set;
}

std::int64_t hot_count(const HotSet& set, double ratio) {
  const auto share = static_cast<std::int64_t>(ratio * static_cast<double>(set.ranks.size()));
  return std::min(share, std::ssize(set.vertices));
}

SplitDestinations split(std::span<const graph::VertexId> destinations, const HotVertices& hot) {
  SplitDestinations split;
  std::vector<bool> is_reused(destinations.size());
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    is_reused[i] = hot.holds(destinations[i]);
  }
  if (!is_reused.empty() && std::find(is_reused.begin(), is_reused.end(), false) == is_reused.end()) {
    is_reused.front() = false;
  }
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    (is_reused[i] ? split.reused : split.computed).push_back(destinations[i]);
  }
  if (split.reused.empty()) {
    return split;
  }
  std::int64_t computed = 0;
  std::int64_t reused = std::ssize(split.computed);
  for (const bool is : is_reused) {
    split.order.push_back(is ? reused++ : computed++);
  }
  return split;
}

}  // namespace gnomon::runtime
