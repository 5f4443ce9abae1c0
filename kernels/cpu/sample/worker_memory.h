#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/sample/topology.h"

namespace gnomon::kernels::cpu {

/// The properties of a graph that bound its mini-batches.
struct GraphLimits {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t max_degree = 0;
};

GraphLimits limits_of(const Topology& topology);

/// The sizes of a mini-batch; entry h of a vector is hop h's.
struct BatchSizes {
  std::int64_t seeds = 0;
  std::vector<std::int64_t> vertices;  ///< after the hop, that is, its sources
  std::vector<std::int64_t> edges;

  std::int64_t num_vertices() const { return vertices.empty() ? seeds : vertices.back(); }
};

/// Returns upper bounds of the sizes of mini-batches of `batch_size` seeds: every vertex is assumed to have
/// max_degree distinct neighbours, up to the graph's numbers of vertices and edges. `fanouts` are as
/// Sampler's.
BatchSizes largest_batch(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts);
/// Returns the number of vertices of largest_batch.
std::int64_t max_vertices(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts);

/// Returns an upper bound of the edges that a sampler has in flight: drawn but without local ids.
std::int64_t max_edges_in_flight(std::span<const int> fanouts);

/// Returns an upper bound of Sampler::bytes() for mini-batches of at most `vertices` vertices, for graphs of
/// at most 2^32 vertices.
std::int64_t max_sampler_bytes(std::int64_t vertices, std::span<const int> fanouts);

/// Returns an upper bound of Sampler::bytes() for a sampler with several threads and mini-batches of at most
/// these sizes.
std::int64_t max_split_sampler_bytes(const BatchSizes& sizes, std::span<const int> fanouts, int threads);

/// Returns an upper bound of the memory of a prepared batch: structure, `row_bytes` of features and the
/// degree of each vertex, and the labels of the seeds.
std::int64_t max_batch_bytes(const BatchSizes& sizes, std::int64_t row_bytes);

}  // namespace gnomon::kernels::cpu
