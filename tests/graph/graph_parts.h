#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/store/names.h"
#include "tests/fixtures/sparse_features.h"

/// Parts of a graph as values that a test can compare.
namespace gnomon::graph {

using Ids = std::vector<VertexId>;
using Labels = std::vector<std::int32_t>;
using Rows = std::vector<Ids>;
using WeightedRows = std::vector<std::vector<std::pair<VertexId, float>>>;

template <class T>
std::vector<T> to_vector(std::span<const T> span) {
  return {span.begin(), span.end()};
}

inline Ids to_vector(const Indices& ids) { return {ids.begin(), ids.end()}; }

inline Rows rows_of(const Graph& graph) {
  Rows rows;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    rows.push_back(to_vector(graph.neighbours(v)));
  }
  return rows;
}

inline WeightedRows weighted_rows_of(const Graph& graph) {
  WeightedRows rows(static_cast<std::size_t>(graph.num_vertices()));
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    for (auto e = graph.indptr[static_cast<std::size_t>(v)];
         e < graph.indptr[static_cast<std::size_t>(v) + 1]; ++e) {
      rows[static_cast<std::size_t>(v)].emplace_back(graph.indices[static_cast<std::size_t>(e)],
                                                     graph.edge_weights[static_cast<std::size_t>(e)]);
    }
  }
  return rows;
}

/// Features, row after row.
inline std::vector<float> values_of(const Features& features) { return test::dense_values(features); }

/// What outputs call the vertices.
inline std::vector<std::string> names_of(const Graph& graph) {
  const VertexNames names(graph.directory);
  std::vector<std::string> result;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    result.push_back(names.of(graph.original_id(v)));
  }
  return result;
}

}  // namespace gnomon::graph
