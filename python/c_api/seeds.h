#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/sample/id_table.h"
#include "kernels/sampling_rule.h"

namespace gnomon::c_api {

/// The vertices of a batch without repetitions, and the position in `vertices` of each given one.
struct DistinctSeeds {
  std::vector<std::int64_t> vertices;
  std::vector<std::int64_t> positions;
  bool has_repetitions() const { return vertices.size() < positions.size(); }
};

/// Lists the seeds in the order of their first appearance.
void find_distinct(std::span<const std::int64_t> seeds, kernels::cpu::IdTable& table,
                   DistinctSeeds& distinct);

/// Turns the batch of the distinct seeds into that of all of them: a repeated seed has the edges of the
/// first. `expands_every_hop`: the seeds are destinations of every block.
void repeat_seeds(const DistinctSeeds& distinct, bool expands_every_hop, kernels::MiniBatch& batch);

/// Links whose endpoints are the seeds of a batch.
struct Links {
  std::span<const std::int64_t> sources;
  std::span<const std::int64_t> destinations;
  std::int32_t negatives = 0;  ///< GNOMON_NO_NEGATIVES …
  double negatives_per_link = 0;
};

/// Returns all endpoints: the sources, then their negatives (GNOMON_BINARY only), then the destinations and
/// their negatives. Negatives, ceil(links * negatives_per_link) of each kind, are uniform over all vertices:
/// a function of the key.
std::vector<std::int64_t> link_endpoints(const Links& links, std::int64_t num_vertices,
                                         const kernels::BatchKey& key);

}  // namespace gnomon::c_api
