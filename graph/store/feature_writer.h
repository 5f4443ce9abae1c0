#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "graph/feature_form.h"
#include "graph/graph.h"
#include "graph/store/npy.h"
#include "graph/store/store.h"

namespace gnomon::graph {

/// Writes sparse features row by row: features_indptr.npy, features_columns.npy and, unless all values are 1,
/// features_values.npy. Memory: 8 bytes per row and buffers. Throws Failure on I/O errors.
class SparseFeatureWriter {
 public:
  SparseFeatureWriter(std::filesystem::path directory, FeatureType type);

  /// Adds a row in dense form.
  void add_dense(const std::byte* row, std::int64_t columns);
  /// Adds a row whose values are bytes in the features' type; none if all are 1.
  void add(const SparseRow& row);
  /// Bytes of the matrix so far.
  std::int64_t bytes() const;
  SparseMeta finish();

 private:
  void end_row(std::size_t entries_before);
  void flush();

  std::filesystem::path directory_;
  FeatureType type_;
  std::vector<std::int64_t> indptr_{0};
  NpyWriter columns_;
  std::optional<NpyWriter> values_;
  FeatureEntries buffered_;  ///< not yet written
};

/// Writes the features of a store from dense rows, in one pass, in the form asked for. For `automatic` it
/// begins with the sparse form and changes to the dense one as soon as that takes fewer bytes. Throws Failure
/// on I/O errors.
class FeatureWriter {
 public:
  /// `columns` is below 2^31 unless the form is dense.
  FeatureWriter(std::filesystem::path directory, std::int64_t columns, FeatureType type, FeatureForm form);

  /// Adds whole rows, of elements in the features' type.
  void add(std::span<const std::byte> rows);
  /// Returns what the store's meta.json says of the sparse form; nothing if the features are dense.
  std::optional<SparseMeta> finish();

 private:
  bool is_sparse_smaller() const;
  void make_dense();

  std::filesystem::path directory_;
  std::int64_t columns_;
  FeatureType type_;
  FeatureForm form_;
  std::int64_t rows_ = 0;
  std::optional<SparseFeatureWriter> sparse_;
  std::optional<NpyWriter> dense_;
};

/// Writes the rows of these vertices of sparse features.
SparseMeta write_sparse_features(const std::filesystem::path& directory, const Features& features,
                                 std::span<const VertexId> vertices);

}  // namespace gnomon::graph
