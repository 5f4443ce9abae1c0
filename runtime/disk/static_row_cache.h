#pragma once

#include <vector>

#include "kernels/cpu/huge_array.h"
#include "runtime/disk/row_cache.h"

namespace gnomon::runtime {

/// Caches the rows of a fixed set of vertices.
class StaticRowCache final : public RowCache {
 public:
  /// Reads all rows of `chosen` (ascending) consecutively into `rows`.
  using ReadAll = std::function<void(std::span<const graph::VertexId> chosen, std::byte* rows)>;

  StaticRowCache(std::int64_t num_vertices, std::int64_t row_bytes, std::vector<graph::VertexId> chosen,
                 const ReadAll& read_all);

  std::int64_t serve(std::int64_t position, std::span<const graph::VertexId> vertices, std::byte* out,
                     const ReadRows& read) override;

 private:
  std::size_t row_bytes_;
  std::vector<std::int32_t> slots_;  ///< of each vertex, its row here or -1
  kernels::cpu::HugeArray<std::byte> rows_;
};

}  // namespace gnomon::runtime
