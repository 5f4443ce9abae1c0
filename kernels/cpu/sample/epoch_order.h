#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// The training vertices in the order of an epoch: a uniform shuffle (Fisher and Yates) that is a pure
/// function of (train, seed, epoch).
std::vector<graph::VertexId> epoch_order(std::span<const graph::VertexId> train, std::uint64_t seed,
                                         std::uint64_t epoch);

/// How many batches of `batch_size` (at least 1) an epoch of `vertices` has; the last may be smaller.
constexpr std::int64_t num_batches(std::int64_t vertices, std::int64_t batch_size) {
  return (vertices + batch_size - 1) / batch_size;
}

/// The seeds of batch `batch` (0 … num_batches-1): a view into `order`.
std::span<const graph::VertexId> batch_seeds(std::span<const graph::VertexId> order, std::int64_t batch_size,
                                             std::int64_t batch);

}  // namespace gnomon::kernels::cpu
