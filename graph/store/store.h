#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "graph/graph.h"
#include "graph/order/reorder.h"
#include "graph/partition/partition.h"
#include "graph/store/builder.h"
#include "graph/store/csc_builder.h"
#include "graph/store/npy.h"

/// A graph on disk: a directory of
///
///     meta.json      the document StoreMeta
///     indptr.npy     <i8 (vertices + 1)
///     indices.npy    <u4 (edges), or <i8 for more than 2^32 vertices
///     edge_weights.npy   <f4 (edges), if the edges have weights
///     features.npy   <f4, <f2 or <V2 (bf16) (vertices, feature_columns), if there are features in dense form
///     features_indptr.npy    <i8 (vertices + 1), if there are features in sparse form (CSR)
///     features_columns.npy   <i4 (entries), ascending in each row
///     features_values.npy    <f4, <f2 or <V2 (entries), unless all values are 1
///     labels.npy     <i4 (vertices), if there are classes; -1 for unknown
///     label_sets.npy     |u1 (label_sets, num_classes), if vertices may have several classes: labels.npy has
///                    rows of it, whose elements are 1 for the classes of the set and 0 for the others
///     train.npy, valid.npy, test.npy   <i8, ascending vertex ids; may be empty
///     original_ids.npy   <i8 (vertices), if an import renumbered the vertices: the ids in the input data
///     parts.npy      <i8 (parts + 1), if vertices are ordered by part: the first vertex of each part and,
///                    last, the number of vertices
///     hubs.npy       <i8, the vertices with the most influence on training vertices, if there are parts
///     names.txt      if the input data name their vertices (graph/store/names.h)
///     checked.json   once the content was checked (graph/store/checked_store.h)
///
/// The elements of every array begin at byte 4096 of its file, so that direct I/O reads a row of `b` bytes at
/// 4096 + v * b as the blocks that hold it: rows whose size divides 512 or is a multiple of it take no more
/// blocks of 512 bytes than their size needs, all others at most one more; accordingly for blocks of 4096.
///
/// Version 1 ("gnomon.graph/1") is read, too: its indices have 64 bits and its elements begin anywhere.
/// write_store() of the opened store converts it.
namespace gnomon::graph {

/// The origin of a store, for human readers.
struct Provenance {
  std::string made_by;               ///< "import", "generate planted_partition", …
  std::string source;                ///< the file that was imported
  std::vector<std::string> options;  ///< "name=value"
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("made_by", self.made_by);
    f("source", self.source);
    f("options", self.options);
  }
};

/// Returns the .npy element type of a feature type.
DType dtype_of(FeatureType type);

/// The sparse form of a store's features.
struct SparseMeta {
  std::int64_t entries = 0;  ///< of features_columns.npy
  bool values = true;        ///< whether features_values.npy exists; otherwise all values are 1
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("entries", self.entries, base::non_negative);
    f.required("values", self.values);
  }
};

/// The parts by which a store's vertices are ordered (graph/partition/parts.h).
struct PartsMeta {
  PartitionRequest request;
  std::int64_t hubs = 0;  ///< of hubs.npy
  int hub_steps = 0;      ///< of the random walk that found them
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("request", self.request);
    f.required("hubs", self.hubs, base::non_negative);
    f.required("hub_steps", self.hub_steps, base::non_negative);
  }
};

/// The content of meta.json.
struct StoreMeta {
  static constexpr std::string_view schema = "gnomon.graph/2";
  static constexpr std::string_view first_schema = "gnomon.graph/1";  ///< of version 1, with the same fields
  std::string name;
  std::int64_t num_vertices = 0;
  std::int64_t num_edges = 0;
  std::int32_t num_classes = 0;      ///< 0: no labels
  std::int64_t feature_columns = 0;  ///< 0: no features
  FeatureType feature_type = FeatureType::fp32;
  Provenance provenance;
  bool edge_weights = false;                    ///< whether edge_weights.npy exists
  VertexOrder order = VertexOrder::none;        ///< the order that an import applied
  std::optional<SparseMeta> sparse_features{};  ///< absent if the features are dense
  std::optional<PartsMeta> parts{};             ///< absent if vertices are not ordered by part
  std::optional<std::int64_t> label_sets{};     ///< of label_sets.npy; absent if each vertex has one class
  int version = 2;                              ///< from "schema"; not in the field table
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("num_vertices", self.num_vertices, base::Range{0, 0x1p40});
    f.required("num_edges", self.num_edges, base::non_negative);
    f.required("num_classes", self.num_classes, base::non_negative);
    f("label_sets", self.label_sets, base::Range{1, 0x1p31});
    f.required("feature_columns", self.feature_columns, base::non_negative);
    f("feature_type", self.feature_type);
    f("sparse_features", self.sparse_features);
    f("order", self.order);
    f("parts", self.parts);
    f("provenance", self.provenance);
    f("edge_weights", self.edge_weights);
  }
};

/// Reads meta.json of a store of either version. Throws InputError.
StoreMeta read_store_meta(const std::filesystem::path& directory);

/// Describes a graph; one that was opened from a store with its provenance, order and parts.
StoreMeta meta_of(const Graph& graph);

/// The element type of indices.npy.
constexpr DType index_type(std::int64_t num_vertices) {
  return num_vertices <= max_narrow_vertices ? DType::uint32 : DType::int64;
}

/// Returns the fields of an options struct as "name=value" strings, for Provenance.
template <class Options>
std::vector<std::string> option_texts(const Options& options) {
  std::vector<std::string> texts;
  const base::Json flat = base::write_value(options).flatten();  // {"/edges/undirected": false, …}
  for (const auto& [pointer, value] : flat.items()) {
    std::string name = pointer.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    texts.push_back(name + "=" + (value.is_string() ? value.template get<std::string>() : value.dump()));
  }
  return texts;
}

/// Writes a store array by array; commit() creates the directory atomically. Throws InputError if the
/// directory exists, and Failure on I/O errors.
class StoreWriter {
 public:
  explicit StoreWriter(const std::filesystem::path& directory) : directory_(directory) {}

  std::filesystem::path path_of(const char* file) const { return directory_.path() / file; }
  template <class T>
  void write_array(const char* file, DType type, std::span<const T> elements) const {
    NpyWriter writer(path_of(file), type);
    writer.write(elements);
    writer.finish();
  }
  /// Builds indptr.npy, indices.npy and, if weighted, edge_weights.npy from a stream (see build_csc),
  /// directly in the memory-mapped files; intermediate data beyond the memory go to this directory. Returns
  /// the number of edges.
  std::int64_t write_edges(CscRequest request, const EdgeStream& edges, const base::Progress& progress) const;
  /// Writes label_sets.npy.
  void write_label_sets(std::span<const std::uint8_t> sets, std::int64_t num_classes) const;
  void commit(const StoreMeta& meta);

 private:
  base::AtomicDirectory directory_;
};

/// Writes a graph as a store, atomically. A graph opened from a store keeps its provenance and names. Arrays
/// are read and written in sequence, in blocks; the pages of mapped files are released behind them. With a
/// feature type, features are rounded to it. Throws InputError if the directory exists, an index is out of
/// range or a feature exceeds the type's range, and Failure on I/O errors.
void write_store(const Graph& graph, const std::filesystem::path& directory,
                 const base::Progress& progress = {}, std::optional<FeatureType> feature_type = {});

}  // namespace gnomon::graph
