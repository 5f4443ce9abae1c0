#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnomon::c_api {

/// Which vertices of a batch have rows in a cache.
struct CacheHits {
  std::vector<std::int64_t> positions, slots;            ///< of those that have
  std::vector<std::int64_t> missing_positions, missing;  ///< of the others, and their vertices
};

/// `slots` are the vertices' places in the cache, -1 for none.
void find_hits(std::span<const std::int32_t> slots, std::span<const std::int64_t> vertices, CacheHits& hits);

}  // namespace gnomon::c_api
