#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// How neighbours are drawn without replacement: all alike, or by the edges' weights.
enum class Draws : std::uint8_t { uniform, by_weight };

/// A graph's structure as samplers read it; a value type that shares its memory, one for all workers. Either
/// indices or narrow_indices is set; with weights, neighbours are drawn by them. The contents are trusted
/// (graph::validate checks them).
struct Topology {
  std::span<const std::int64_t> indptr;
  std::span<const graph::VertexId> indices;
  std::span<const std::uint32_t> narrow_indices;
  std::span<const float> weights;  ///< of indices, not negative; or empty
  std::int64_t max_degree = 0;
  std::shared_ptr<const void> storage;

  std::int64_t num_vertices() const {
    return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1;
  }
  std::int64_t num_edges() const { return indptr.empty() ? 0 : indptr.back(); }
  std::int64_t degree(graph::VertexId vertex) const {
    return indptr[static_cast<std::size_t>(vertex) + 1] - indptr[static_cast<std::size_t>(vertex)];
  }
};

/// Most vertices whose ids fit into narrow_indices.
inline constexpr std::int64_t most_narrow_vertices = std::int64_t{1} << 32;

/// The graph where it lies; nothing is copied, all degrees are read. This and the others throw
/// base::InputError for draws by weight from a graph without weights.
Topology view_of(const graph::Graph& graph, Draws draws = Draws::uniform);

/// A copy in memory, on huge pages, of ids of 32 bits when the graph has at most 2^32 vertices: a random draw
/// then touches half as many cache lines and far fewer pages than in a mapped store. Takes
/// resident_bytes(graph, draws).
Topology resident_copy(const graph::Graph& graph, Draws draws = Draws::uniform);

/// The bytes that resident_copy takes.
std::int64_t resident_bytes(const graph::Graph& graph, Draws draws = Draws::uniform);

/// A resident_copy when it takes no more than half of the memory that the system can still give, else a view.
Topology fastest_of(const graph::Graph& graph, Draws draws = Draws::uniform);

}  // namespace gnomon::kernels::cpu
