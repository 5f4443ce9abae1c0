#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/graph.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::runtime {

/// Feature rows in memory that this object owns.
struct LocalFeatures {
  graph::Features form;                     ///< type and number of columns
  kernels::cpu::HugeArray<std::byte> data;  ///< dense rows, or the values of entries
  std::vector<std::int64_t> indptr;         ///< of sparse rows; else empty
  kernels::cpu::HugeArray<std::int32_t> entry_columns;

  /// The features as a view of this memory, which must outlive it.
  graph::Features view(std::int64_t rows) const;
};

/// Copies the feature rows of `vertices`, in their order, with the team's threads. `is_wanted` marks the
/// vertices whose rows are needed; empty: all. The other rows have undefined values if dense, and no entries
/// if sparse. They are written to `memory`, which grows if it is too small.
LocalFeatures gather_locally(const graph::Features& features, std::span<const graph::VertexId> vertices,
                             std::span<const std::uint8_t> is_wanted, base::Team& team,
                             kernels::cpu::HugeArray<std::byte> memory = {});

}  // namespace gnomon::runtime
