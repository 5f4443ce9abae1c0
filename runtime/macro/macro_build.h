#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ranked_bits.h"
#include "graph/graph.h"
#include "runtime/macro/macro_batch.h"
#include "runtime/macro/resident_hubs.h"

namespace gnomon::runtime {

/// A macro-batch under construction: whole parts of a graph, and the hubs, whose lists are added in the order
/// of the vertices.
class MacroBuild {
 public:
  /// The vertices begin … end - 1 of a part.
  struct Part {
    graph::VertexId begin = 0, end = 0;
  };

  /// `parts` ascend; `memory` is used for the arrays, which are then reserved by the caller, the lists with
  /// kernels::cpu::member_ranks_slack elements more. `hubs` must outlive it.
  MacroBuild(std::int64_t num_vertices, std::uint64_t row_bytes, std::span<const Part> parts,
             const ResidentHubs& hubs, MacroArrays memory);

  MacroArrays& arrays() { return arrays_; }
  /// Where the features of the vertices from `vertex` on go. Precondition: it begins a part.
  std::byte* rows_from(graph::VertexId vertex) { return row(ids_.rank(vertex)); }
  /// Adds the next vertex and those of its neighbours that are in the macro-batch.
  void add_list(const graph::Indices& neighbours);
  /// Adds the lists and rows of the hubs below `end` that come next.
  void add_hubs(graph::VertexId end);
  /// Leaves out the hubs below `end` that come next: they are in a part.
  void skip_hubs(graph::VertexId end);

 private:
  /// A part, its first local id, and the hubs in it.
  struct PlacedPart {
    Part part;
    std::int64_t local = 0;
    std::uint32_t hub_shift =
        0;  ///< local id of a hub before it, but after the part before, minus its number
    std::uint32_t first_hub = 0, end_hub = 0;
  };

  std::byte* row(std::int64_t local) {
    return arrays_.features.data.data() + static_cast<std::uint64_t>(local) * row_bytes_;
  }
  void add_ascending_list(const graph::Indices& neighbours, std::span<const std::uint32_t> hubs);
  void end_list(const std::uint32_t* end, std::size_t degree);

  std::uint64_t row_bytes_;
  const ResidentHubs& hubs_;
  base::RankedBits ids_;  ///< of the macro-batch
  MacroArrays arrays_;
  std::vector<PlacedPart> parts_;
  std::uint32_t last_hub_shift_ = 0;  ///< hub_shift of the hubs after all parts
  std::uint32_t next_hub_ = 0;
};

}  // namespace gnomon::runtime
