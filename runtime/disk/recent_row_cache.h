#pragma once

#include "runtime/disk/recent_cache.h"
#include "runtime/disk/row_cache.h"

namespace gnomon::runtime {

/// Caches the most recently used rows.
class RecentRowCache final : public RowCache {
 public:
  RecentRowCache(std::int64_t max_rows, std::int64_t row_bytes)
      : cache_(max_rows, static_cast<std::size_t>(row_bytes)) {}

  std::int64_t serve(std::int64_t position, std::span<const graph::VertexId> vertices, std::byte* out,
                     const ReadRows& read) override;

 private:
  RecentCache cache_;
};

}  // namespace gnomon::runtime
