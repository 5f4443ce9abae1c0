#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "graph/graph.h"
#include "kernels/weighted_rule.h"

namespace gnomon::kernels::cpu {

/// How neighbours are drawn without replacement: uniformly, or by the edges' weights.
enum class Draws : std::uint8_t { uniform, by_weight };

/// Reads neighbours of a graph whose lists are not in memory. Not thread-safe.
class NeighbourReader {
 public:
  NeighbourReader() = default;
  NeighbourReader(const NeighbourReader&) = delete;
  NeighbourReader& operator=(const NeighbourReader&) = delete;
  virtual ~NeighbourReader() = default;

  /// Writes the graph's indices[edges[i]] to neighbours[i]. Throws base::Failure if they cannot be read.
  virtual void read(std::span<const std::int64_t> edges, std::span<graph::VertexId> neighbours) = 0;
};

/// A graph's structure as samplers read it. A value type: copies, for instance those of several workers,
/// share the memory. Either indices or narrow_indices is set, or open_lists. If there are alias tables,
/// neighbours are drawn by weight. The content is not checked (see graph::validate).
struct Topology {
  std::span<const std::int64_t> indptr;           ///< num_vertices + 1
  std::span<const graph::VertexId> indices;       ///< num_edges
  std::span<const std::uint32_t> narrow_indices;  ///< num_edges, as 32-bit ids
  std::span<const float> weights;                 ///< num_edges, non-negative; or empty
  std::span<const AliasColumn> columns;           ///< num_edges, the alias tables of the weights; or empty
  /// Each vertex's number of positive weights; empty if all are positive.
  std::span<const std::uint32_t> positives;
  std::int64_t max_degree = 0;
  std::shared_ptr<const void> storage;
  std::function<std::unique_ptr<NeighbourReader>()>
      open_lists{};  ///< a reader of lists that are not in memory

  std::int64_t num_vertices() const {
    return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1;
  }
  std::int64_t num_edges() const { return indptr.empty() ? 0 : indptr.back(); }
  bool draws_by_weight() const { return !columns.empty(); }
  std::int64_t degree(graph::VertexId vertex) const {
    return indptr[static_cast<std::size_t>(vertex) + 1] - indptr[static_cast<std::size_t>(vertex)];
  }
  /// Returns the number of a vertex's edges of positive weight.
  std::int64_t num_positive(graph::VertexId vertex) const {
    return positives.empty() ? degree(vertex) : std::int64_t{positives[static_cast<std::size_t>(vertex)]};
  }
  /// Returns the vertex's neighbour list for weighted draws.
  WeightedList weighted_list(graph::VertexId vertex) const {
    const std::int64_t first = indptr[static_cast<std::size_t>(vertex)];
    return {columns.data() + first, weights.data() + first, degree(vertex), first};
  }
};

/// Bytes of a vertex's id in the lists of a resident_copy and of caches: row pointers always have 8 bytes.
constexpr std::int64_t index_bytes(std::int64_t vertices) {
  return vertices <= graph::max_narrow_vertices ? std::int64_t{sizeof(std::uint32_t)}
                                                : std::int64_t{sizeof(graph::VertexId)};
}

/// Returns a view of the graph, without a copy of its indices; reads all degrees. For draws by weight, this
/// and the following functions build alias tables on all cores and throw as make_alias_tables does; they
/// throw base::InputError if the graph has no weights.
Topology view_of(const graph::Graph& graph, Draws draws = Draws::uniform);

/// Returns a copy of the graph's structure in memory, on huge pages, with 32-bit ids if the graph has at most
/// 2^32 vertices. Random draws from it touch half as many cache lines as, and far fewer pages than, those
/// from a mapped store. Uses at most resident_bytes(graph, draws).
Topology resident_copy(const graph::Graph& graph, Draws draws = Draws::uniform);

/// Returns a topology with a copy of the row pointers in memory (8 bytes per vertex) whose lists are read by
/// readers that `open_lists` opens, one for each sampler.
Topology with_lists_elsewhere(const graph::Graph& graph,
                              std::function<std::unique_ptr<NeighbourReader>()> open_lists);

/// Returns an upper bound of the bytes that resident_copy uses for a graph of that size: row pointers and
/// ids, and for draws by weight the weights and their alias tables.
std::int64_t resident_bytes(std::int64_t vertices, std::int64_t edges, Draws draws);
std::int64_t resident_bytes(const graph::Graph& graph, Draws draws = Draws::uniform);

/// Returns a resident_copy if it takes at most half of the available memory, otherwise a view.
Topology resident_copy_if_fits(const graph::Graph& graph, Draws draws = Draws::uniform);

}  // namespace gnomon::kernels::cpu
