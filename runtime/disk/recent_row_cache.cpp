#include "runtime/disk/recent_row_cache.h"

#include <cstring>

namespace gnomon::runtime {

std::int64_t RecentRowCache::serve(std::int64_t, std::span<const graph::VertexId> vertices, std::byte* out,
                                   const ReadRows& read) {
  const std::size_t row_bytes = cache_.entry_bytes();
  Places misses;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto copy = [&](const std::byte* row) { std::memcpy(out + i * row_bytes, row, row_bytes); };
    if (!cache_.find(static_cast<std::uint64_t>(vertices[i]), copy)) {
      misses.push_back(static_cast<std::uint32_t>(i));
    }
  }
  read(misses);
  for (const std::uint32_t i : misses) {
    cache_.keep(static_cast<std::uint64_t>(vertices[i]), out + i * row_bytes);
  }
  return std::ssize(vertices) - std::ssize(misses);
}

}  // namespace gnomon::runtime
