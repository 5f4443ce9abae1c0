#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/sample/id_table.h"
#include "kernels/sampling_rule.h"

namespace gnomon::c_api {

/// The distinct seeds of a batch, and the position in `vertices` of each given seed.
struct DistinctSeeds {
  std::vector<std::int64_t> vertices;
  std::vector<std::int64_t> positions;
  bool has_repetitions() const { return vertices.size() < positions.size(); }
};

/// The memory of find_sorted, reused between batches.
struct SeedSort {
  struct Record {
    std::uint64_t vertex = 0;
    std::size_t position = 0;
  };
  std::vector<Record> records, scratch;
};

/// Lists the seeds in the order of their first appearance.
void find_distinct(std::span<const std::int64_t> seeds, kernels::cpu::IdTable& table,
                   DistinctSeeds& distinct);

/// Lists the seeds in ascending order. All are below `num_vertices`.
void find_sorted(std::span<const std::int64_t> seeds, std::int64_t num_vertices, SeedSort& memory,
                 DistinctSeeds& distinct);

/// Extends the batch of the distinct seeds to all seeds: a repeated seed gets the edges of its first
/// appearance. `expands_every_hop`: the seeds are destinations of every block.
void repeat_seeds(const DistinctSeeds& distinct, bool expands_every_hop, kernels::MiniBatch& batch);

/// Links whose endpoints are the seeds of a batch.
struct Links {
  std::span<const std::int64_t> sources;
  std::span<const std::int64_t> destinations;
  std::int32_t negatives = 0;  ///< GNOMON_NO_NEGATIVES …
  double negatives_per_link = 0;
};

/// Returns all endpoints: the sources, then their negatives (GNOMON_BINARY only), then the destinations and
/// their negatives. The ceil(links * negatives_per_link) negatives of each kind are drawn uniformly from all
/// vertices; they depend on the key only.
std::vector<std::int64_t> link_endpoints(const Links& links, std::int64_t num_vertices,
                                         const kernels::BatchKey& key);

}  // namespace gnomon::c_api
