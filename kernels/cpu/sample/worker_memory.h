#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/sample/topology.h"

namespace gnomon::kernels::cpu {

/// What limits the mini-batches of a graph.
struct GraphLimits {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t max_degree = 0;
};

GraphLimits limits_of(const Topology& topology);

/// Sizes of a mini-batch; entry h is hop h's.
struct BatchSizes {
  std::int64_t seeds = 0;
  std::vector<std::int64_t> vertices;  ///< after the hop (its sources)
  std::vector<std::int64_t> edges;

  std::int64_t num_vertices() const { return vertices.empty() ? seeds : vertices.back(); }
};

/// The sizes that no mini-batch of `batch_size` seeds exceeds: every vertex has max_degree neighbours, all of
/// them different, until the graph's own numbers of vertices and edges are reached. Fanouts as Sampler's.
BatchSizes largest_batch(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts);
/// Its number of vertices.
std::int64_t most_vertices(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts);

/// Edges that a sampler has under way at most: drawn, and not yet numbered.
std::int64_t most_edges_under_way(std::span<const int> fanouts);

/// The most that a Sampler's bytes() ever are when no mini-batch has more than `vertices` vertices: for
/// graphs of at most 2^32 vertices.
std::int64_t most_sampler_bytes(std::int64_t vertices, std::span<const int> fanouts);

/// The same of a Sampler whose `threads` share each mini-batch of at most these sizes.
std::int64_t most_split_bytes(const BatchSizes& sizes, std::span<const int> fanouts, int threads);

/// The most that a batch takes in a worker's hands: structure, a row of `row_bytes` features and the degree
/// of each vertex, labels of the seeds.
std::int64_t most_batch_bytes(const BatchSizes& sizes, std::int64_t row_bytes);

}  // namespace gnomon::kernels::cpu
