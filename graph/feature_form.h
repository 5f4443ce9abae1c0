#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// The form of a feature matrix. automatic: sparse if that takes fewer bytes than dense.
enum class FeatureForm : std::uint8_t { automatic, dense, sparse };

/// Entries of sparse feature rows: their columns, their values in the features' type, and whether all values
/// are 1.
struct FeatureEntries {
  std::vector<std::int32_t> columns;
  std::vector<std::byte> values;
  bool all_ones = true;

  /// Appends the elements of a dense row that are not 0. Precondition: the row has fewer than 2^31 columns.
  void append(const std::byte* row, std::int64_t num_columns, FeatureType type);
};

/// A row of sparse features. `values` are bytes in the features' type; empty if all values are 1.
struct SparseRow {
  std::span<const std::int32_t> columns;
  std::span<const std::byte> values;
};
SparseRow row_of(const Features& features, VertexId vertex);

/// Writes row `vertex` of sparse features in dense form to out[0 … features.row_bytes() - 1].
void expand_row(const Features& features, VertexId vertex, std::byte* out);

/// Returns the graph with its features in that form: a copy in memory, or the graph itself if it has none or
/// they have the form already.
Graph with_features_in(const Graph& graph, FeatureForm form);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::FeatureForm> {
  static constexpr std::array<std::pair<graph::FeatureForm, std::string_view>, 3> values{
      {{graph::FeatureForm::automatic, "automatic"},
       {graph::FeatureForm::dense, "dense"},
       {graph::FeatureForm::sparse, "sparse"}}};
};
