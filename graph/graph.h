#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graph/indices.h"

namespace gnomon::graph {

struct Parts;

/// The element type of features; fp16 is IEEE 754 binary16, bf16 the upper half of binary32.
enum class FeatureType : std::uint8_t { fp32, fp16, bf16 };

constexpr std::int64_t bytes_of(FeatureType type) { return type == FeatureType::fp32 ? 4 : 2; }

/// A feature matrix with one row per vertex: dense, or sparse in compressed sparse row (CSR) form.
struct Features {
  /// Dense: rows x columns elements, row-major. Sparse: the value of each entry; null if all values are 1.
  const std::byte* data = nullptr;
  FeatureType type = FeatureType::fp32;  ///< of `data`
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Sparse: row v has the entries indptr[v] … indptr[v+1]-1. rows + 1 elements, non-decreasing from 0; empty
  /// if the matrix is dense.
  std::span<const std::int64_t> indptr{};
  std::span<const std::int32_t> entry_columns{};  ///< sparse: the column of each entry, ascending in each row

  /// Whether the graph has features.
  bool any() const { return data != nullptr || is_sparse(); }
  bool is_sparse() const { return !indptr.empty(); }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(entry_columns.size()); }
  /// Bytes of a sparse entry: its column and, unless all are 1, its value.
  std::int64_t entry_bytes() const {
    return static_cast<std::int64_t>(sizeof(std::int32_t)) + (data == nullptr ? 0 : bytes_of(type));
  }
  /// Bytes of a row in dense form.
  std::int64_t row_bytes() const { return columns * bytes_of(type); }
  /// Bytes of the whole matrix in its form.
  std::int64_t bytes() const {
    return is_sparse() ? static_cast<std::int64_t>(indptr.size_bytes()) + num_entries() * entry_bytes()
                       : rows * row_bytes();
  }
  /// The bytes behind `data`.
  std::span<const std::byte> data_bytes() const {
    const std::int64_t elements = data == nullptr ? 0 : is_sparse() ? num_entries() : rows * columns;
    return {data, static_cast<std::size_t>(elements * bytes_of(type))};
  }
  /// A row of a dense matrix.
  const std::byte* row(VertexId vertex) const { return data + vertex * row_bytes(); }
};

/// A graph in compressed sparse column (CSC) form: the in-neighbours of v, from which v aggregates, are
/// indices[indptr[v]] … indices[indptr[v+1]-1]. A value type: copies share the memory behind the spans, which
/// `storage` keeps alive (a memory map of the store, or vectors).
struct Graph {
  std::string name;
  std::filesystem::path directory;       ///< of the store it was opened from; empty for a graph in memory
  std::span<const std::int64_t> indptr;  ///< num_vertices + 1, non-decreasing from 0 to num_edges
  Indices indices;                       ///< num_edges
  std::span<const float> edge_weights;   ///< num_edges, finite and non-negative; empty if unweighted
  Features features;
  /// num_vertices, -1 for unknown: classes or, of a multi-label graph, rows of label_sets; empty without
  /// labels
  std::span<const std::int32_t> labels;
  std::int32_t num_classes = 0;
  /// Of a multi-label graph, whose vertices may have several classes or none: the distinct sets of classes,
  /// sets x num_classes, row-major, 1 for each class of the set and 0 for the others. Empty: one class each.
  std::span<const std::uint8_t> label_sets{};
  std::span<const VertexId> train;  ///< the vertices of each split, ascending; splits are disjoint
  std::span<const VertexId> valid;
  std::span<const VertexId> test;
  std::span<const VertexId> original_ids;  ///< num_vertices, the ids in the input data; empty if unchanged
  std::shared_ptr<const Parts> parts{};    ///< graph/partition/parts.h; null unless ordered by parts
  /// Of a graph that is a part of another one: the in-degrees there, num_vertices. Empty: its own.
  std::span<const std::int64_t> whole_degrees{};
  std::shared_ptr<const void> storage;

  std::int64_t num_vertices() const {
    return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1;
  }
  std::int64_t num_edges() const { return static_cast<std::int64_t>(indices.size()); }
  bool is_multilabel() const { return !label_sets.empty(); }
  /// Labels are below it: the number of label sets or, where each vertex has one class, of classes.
  std::int64_t num_label_values() const {
    return is_multilabel() ? static_cast<std::int64_t>(label_sets.size()) / num_classes : num_classes;
  }
  std::int64_t degree(VertexId vertex) const {
    return indptr[static_cast<std::size_t>(vertex) + 1] - indptr[static_cast<std::size_t>(vertex)];
  }
  /// The in-degree in the whole graph.
  std::int64_t whole_degree(VertexId vertex) const {
    return whole_degrees.empty() ? degree(vertex) : whole_degrees[static_cast<std::size_t>(vertex)];
  }
  /// Returns the largest in-degree. Reads all of indptr.
  std::int64_t max_degree() const {
    std::int64_t max = 0;
    for (VertexId vertex = 0; vertex < num_vertices(); ++vertex) {
      max = std::max(max, degree(vertex));
    }
    return max;
  }
  /// Returns the vertex's id in the input data.
  VertexId original_id(VertexId vertex) const {
    return original_ids.empty() ? vertex : original_ids[static_cast<std::size_t>(vertex)];
  }
  Indices neighbours(VertexId vertex) const {
    return indices.subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(vertex)]),
                           static_cast<std::size_t>(degree(vertex)));
  }
};

/// Opens a store of either version (meta.json and memory-mapped .npy files) in time independent of the
/// graph's size: it checks headers and sizes but not contents, which validate() does. Throws InputError
/// naming the file and the field.
Graph open_store(const std::filesystem::path& directory);

/// Reads all data once and throws InputError, naming the file and the field, at the first error: indptr that
/// is not monotone, an index out of range, a negative, NaN or infinite edge weight, a NaN or infinite
/// feature, columns of a sparse feature row that are out of range or not ascending, a label outside [-1,
/// num_label_values()), an element of label_sets other than 0 and 1, a split vertex that is out of range,
/// repeated or in two splits. With `for_training`, also: no features, no labels, an empty training set, or an
/// unlabelled training vertex.
void validate(const Graph& graph, bool for_training);

}  // namespace gnomon::graph
