#include "python/c_api/cache_hits.h"

#include <cstddef>

#include "kernels/cpu/prefetch.h"

namespace gnomon::c_api {

void find_hits(std::span<const std::int32_t> slots, std::span<const std::int64_t> vertices, CacheHits& hits) {
  hits.positions.clear();
  hits.slots.clear();
  hits.missing_positions.clear();
  hits.missing.clear();
  constexpr std::size_t prefetch_distance = 32;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (i + prefetch_distance < vertices.size()) {
      kernels::cpu::prefetch_far(slots.data() + vertices[i + prefetch_distance]);
    }
    const std::int32_t slot = slots[static_cast<std::size_t>(vertices[i])];
    if (slot < 0) {
      hits.missing_positions.push_back(static_cast<std::int64_t>(i));
      hits.missing.push_back(vertices[i]);
    } else {
      hits.positions.push_back(static_cast<std::int64_t>(i));
      hits.slots.push_back(slot);
    }
  }
}

}  // namespace gnomon::c_api
