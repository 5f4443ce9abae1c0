#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnomon::c_api {

/// Which vertices of a batch have rows in a cache.
struct CacheHits {
  std::vector<std::int64_t> positions, slots;            ///< of the cached vertices
  std::vector<std::int64_t> missing_positions, missing;  ///< of the others: positions and vertices
};

/// `slots`: for each vertex of the graph its slot in the cache, -1 if it is not cached.
void find_hits(std::span<const std::int32_t> slots, std::span<const std::int64_t> vertices, CacheHits& hits);

}  // namespace gnomon::c_api
