#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "graph/graph.h"
#include "kernels/weighted_rule.h"

namespace gnomon::kernels::cpu {

/// How neighbours are drawn without replacement: all alike, or by the edges' weights.
enum class Draws : std::uint8_t { uniform, by_weight };

/// A graph's structure as samplers read it; a value type that shares its memory, one for all workers. Either
/// indices or narrow_indices is set; with alias tables, neighbours are drawn by weight. The contents are
/// trusted (graph::validate checks them).
struct Topology {
  std::span<const std::int64_t> indptr;
  std::span<const graph::VertexId> indices;
  std::span<const std::uint32_t> narrow_indices;
  std::span<const float> weights;            ///< of indices, not negative; or empty
  std::span<const AliasColumn> columns;      ///< of indices: the alias tables of their weights; or empty
  std::span<const std::uint32_t> positives;  ///< of vertices: edges of positive weight; empty where all are
  std::int64_t max_degree = 0;
  std::shared_ptr<const void> storage;

  std::int64_t num_vertices() const {
    return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1;
  }
  std::int64_t num_edges() const { return indptr.empty() ? 0 : indptr.back(); }
  bool draws_by_weight() const { return !columns.empty(); }
  std::int64_t degree(graph::VertexId vertex) const {
    return indptr[static_cast<std::size_t>(vertex) + 1] - indptr[static_cast<std::size_t>(vertex)];
  }
  /// Edges that may be drawn by weight.
  std::int64_t num_positive(graph::VertexId vertex) const {
    return positives.empty() ? degree(vertex) : std::int64_t{positives[static_cast<std::size_t>(vertex)]};
  }
  /// The vertex's list for draws by weight.
  WeightedList weighted_list(graph::VertexId vertex) const {
    const std::int64_t first = indptr[static_cast<std::size_t>(vertex)];
    return {columns.data() + first, weights.data() + first, degree(vertex), first};
  }
};

/// Most vertices whose ids fit into narrow_indices.
inline constexpr std::int64_t most_narrow_vertices = std::int64_t{1} << 32;

/// Bytes of a vertex's id in the lists of a resident_copy and of caches: row pointers always have 8 bytes.
constexpr std::int64_t index_bytes(std::int64_t vertices) {
  return vertices <= most_narrow_vertices ? std::int64_t{sizeof(std::uint32_t)}
                                          : std::int64_t{sizeof(graph::VertexId)};
}

/// The graph where it lies; nothing is copied, all degrees are read. For draws by weight this and the others
/// make alias tables (kernels/cpu/sample/alias_tables.h, which says what they throw) on all cores, and throw
/// base::InputError when the graph has no weights.
Topology view_of(const graph::Graph& graph, Draws draws = Draws::uniform);

/// A copy in memory, on huge pages, of ids of 32 bits when the graph has at most 2^32 vertices: a random draw
/// then touches half as many cache lines and far fewer pages than in a mapped store. Takes at most
/// resident_bytes(graph, draws).
Topology resident_copy(const graph::Graph& graph, Draws draws = Draws::uniform);

/// Returns the maximum memory of a resident_copy of a graph of that size: row pointers and ids, and for draws
/// by weight the weights and their alias tables.
std::int64_t resident_bytes(std::int64_t vertices, std::int64_t edges, Draws draws);
std::int64_t resident_bytes(const graph::Graph& graph, Draws draws = Draws::uniform);

/// A resident_copy when it takes no more than half of the memory that the system can still give, else a view.
Topology fastest_of(const graph::Graph& graph, Draws draws = Draws::uniform);

}  // namespace gnomon::kernels::cpu
