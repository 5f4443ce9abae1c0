#include "runtime/disk/static_row_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cache/preferred_rows.h"

namespace gnomon::runtime {

StaticRowCache::StaticRowCache(std::int64_t num_vertices, std::int64_t row_bytes,
                               std::vector<graph::VertexId> chosen, const ReadAll& read_all)
    : row_bytes_(static_cast<std::size_t>(row_bytes)) {
  std::sort(chosen.begin(), chosen.end());
  slots_ = slots_of(num_vertices, chosen);
  rows_.reserve(chosen.size() * row_bytes_, 0);
  read_all(chosen, rows_.data());
}

std::int64_t StaticRowCache::serve(std::int64_t, std::span<const graph::VertexId> vertices, std::byte* out,
                                   const ReadRows& read) {
  Places misses;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::int32_t slot = slots_[static_cast<std::size_t>(vertices[i])];
    if (slot < 0) {
      misses.push_back(static_cast<std::uint32_t>(i));
    } else {
      std::memcpy(out + i * row_bytes_, rows_.data() + static_cast<std::size_t>(slot) * row_bytes_,
                  row_bytes_);
    }
  }
  read(misses);
  return std::ssize(vertices) - std::ssize(misses);
}

}  // namespace gnomon::runtime
