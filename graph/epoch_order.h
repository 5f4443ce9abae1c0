#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gnomon::graph {

/// Returns the training vertices in the order of an epoch: a uniform random permutation (Fisher-Yates
/// shuffle) that is a pure function of (train, seed, epoch).
std::vector<VertexId> epoch_order(std::span<const VertexId> train, std::uint64_t seed, std::uint64_t epoch);

/// Returns the number of mini-batches in an epoch. The last one may be smaller. Precondition: batch_size
/// >= 1.
constexpr std::int64_t num_batches(std::int64_t vertices, std::int64_t batch_size) {
  return (vertices + batch_size - 1) / batch_size;
}

/// Returns the seeds of mini-batch `batch` (0 … num_batches - 1) as a view into `order`.
std::span<const VertexId> batch_seeds(std::span<const VertexId> order, std::int64_t batch_size,
                                      std::int64_t batch);

}  // namespace gnomon::graph
