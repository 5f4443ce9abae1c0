#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/graph.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::runtime {

/// Feature rows in memory of their own.
struct LocalFeatures {
  graph::Features form;                     ///< type and number of columns
  kernels::cpu::HugeArray<std::byte> data;  ///< dense rows, or the values of entries
  std::vector<std::int64_t> indptr;         ///< of sparse rows; else empty
  kernels::cpu::HugeArray<std::int32_t> entry_columns;

  /// The features on this memory, which must outlive them.
  graph::Features view(std::int64_t rows) const;
};

/// Copies the feature rows of `vertices`, in their order, by the team's threads. `is_wanted` says of each
/// vertex whether its row is needed: others have undefined values if dense, and no entries if sparse. Empty:
/// all are.
LocalFeatures gather_locally(const graph::Features& features, std::span<const graph::VertexId> vertices,
                             std::span<const std::uint8_t> is_wanted, base::Team& team);

}  // namespace gnomon::runtime
