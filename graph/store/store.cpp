#include "graph/store/store.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/index.h"
#include "base/process_memory.h"
#include "graph/feature_bits.h"
#include "graph/partition/parts.h"
#include "graph/store/feature_writer.h"
#include "graph/store/names.h"
#include "graph/trainable.h"

namespace gnomon::graph {
namespace {

using base::at;

/// A memory-mapped .npy file whose elements are written in place; finish() truncates it to their number.
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(const std::filesystem::path& path, DType type, std::int64_t max_elements)
      : file_(MappedFile::create(path, bytes_for(type, max_elements))), type_(type) {}
  template <class T>
  T* elements() {
    return reinterpret_cast<T*>(file_.writable() + npy_header_bytes);
  }
  void finish(std::int64_t elements) {
    const std::string header = format_npy_header(type_, {elements});
    std::memcpy(file_.writable(), header.data(), header.size());
    file_.finish(bytes_for(type_, elements));
  }

 private:
  static std::size_t bytes_for(DType type, std::int64_t elements) {
    return npy_header_bytes + static_cast<std::size_t>(elements * bytes_of(type));
  }
  MappedFile file_;
  DType type_ = DType::int64;
};

/// Elements that are written together.
constexpr std::int64_t block_elements = std::int64_t{1} << 22;

/// Returns the bytes to write for a block.
using Convert = std::function<std::vector<std::byte>(std::span<const std::byte>)>;

/// Writes an array's bytes block by block, converted if `convert` is set, and releases the pages of blocks in
/// a mapped file.
void copy_elements(NpyWriter& to, std::span<const std::byte> bytes, DType type, std::string_view what,
                   const base::Progress& progress, const Convert& convert = nullptr) {
  const std::int64_t total = std::ssize(bytes) / bytes_of(type);
  for (std::int64_t first = 0; first < total; first += block_elements) {
    const std::int64_t count = std::min(block_elements, total - first);
    const auto block = bytes.subspan(at(first * bytes_of(type)), at(count * bytes_of(type)));
    to.write(convert ? convert(block).data() : block.data(), count);
    base::release_file_pages(block);
    base::report(progress, what, first + count, total);
  }
}

/// Writes 64-bit ids with 32 bits. Throws InputError for an id that is no vertex.
void write_narrowed(NpyWriter& to, const Graph& graph, const base::Progress& progress) {
  const auto ids = graph.indices.wide();
  std::vector<std::uint32_t> narrow;
  for (std::size_t first = 0; first < ids.size(); first += at(block_elements)) {
    const auto block = ids.subspan(first, std::min(at(block_elements), ids.size() - first));
    narrow.clear();
    for (const VertexId id : block) {
      if (id < 0 || id >= graph.num_vertices()) {
        throw base::InputError(where_of(graph, "indices"), "vertex " + std::to_string(id) +
                                                               " is out of range; use 0 to " +
                                                               std::to_string(graph.num_vertices() - 1));
      }
      narrow.push_back(static_cast<std::uint32_t>(id));
    }
    to.write(std::span<const std::uint32_t>(narrow));
    base::release_file_pages(std::as_bytes(block));
    base::report(progress, "writing edges", static_cast<std::int64_t>(first + block.size()),
                 graph.num_edges());
  }
}

void write_indices(const StoreWriter& writer, const Graph& graph, const base::Progress& progress) {
  const DType type = index_type(graph.num_vertices());
  NpyWriter array(writer.path_of("indices.npy"), type);
  if (type == DType::uint32 && !graph.indices.is_narrow()) {
    write_narrowed(array, graph, progress);
  } else {
    copy_elements(array, graph.indices.bytes(), type, "writing edges", progress);
  }
  array.finish();
}

/// Writes dense features, rounded to `type` if it is another.
void write_dense_features(const StoreWriter& writer, const Graph& graph, FeatureType type,
                          const base::Progress& progress) {
  const Features& features = graph.features;
  NpyWriter array(writer.path_of("features.npy"), dtype_of(type), features.columns);
  const Convert convert = [&](std::span<const std::byte> block) {
    return in_type(type, features.type, block, where_of(graph, "features"));
  };
  copy_elements(array, features.data_bytes(), dtype_of(features.type), "writing features", progress,
                type == features.type ? nullptr : convert);
  array.finish();
}

/// Writes sparse features with values rounded to `type` if theirs is another.
void write_sparse_features(const StoreWriter& writer, const Graph& graph, FeatureType type) {
  const Features& features = graph.features;
  SparseFeatureWriter array(writer.path_of(""), type);
  for (VertexId vertex = 0; vertex < features.rows; ++vertex) {
    const SparseRow row = row_of(features, vertex);
    array.add({row.columns, in_type(type, features.type, row.values, where_of(graph, "features_values"))});
  }
  array.finish();
}

void write_features(const StoreWriter& writer, const Graph& graph, FeatureType type,
                    const base::Progress& progress) {
  if (graph.features.is_sparse()) {
    write_sparse_features(writer, graph, type);
  } else {
    write_dense_features(writer, graph, type, progress);
  }
}

}  // namespace

StoreMeta read_store_meta(const std::filesystem::path& directory) {
  const auto path = directory / "meta.json";
  auto document = base::parse_json(base::read_file(path), path.string());
  int version = 2;
  if (document.is_object() && document.value("schema", base::Json()) == StoreMeta::first_schema) {
    document["schema"] = StoreMeta::schema;
    version = 1;
  }
  auto meta = base::from_document<StoreMeta>(std::move(document), path.string());
  meta.version = version;
  return meta;
}

StoreMeta meta_of(const Graph& graph) {
  StoreMeta meta{graph.name, graph.num_vertices(), graph.num_edges(), graph.num_classes, 0, {}, {}};
  meta.provenance.made_by = "write_store";
  meta.edge_weights = !graph.edge_weights.empty();
  if (graph.is_multilabel()) {
    meta.label_sets = graph.num_label_values();
  }
  if (graph.features.any()) {
    meta.feature_columns = graph.features.columns;
    meta.feature_type = graph.features.type;
  }
  if (graph.features.is_sparse()) {
    meta.sparse_features = SparseMeta{graph.features.num_entries(), graph.features.data != nullptr};
  }
  if (!graph.directory.empty()) {
    const StoreMeta opened = read_store_meta(graph.directory);
    meta.provenance = opened.provenance;
    meta.order = opened.order;
    meta.parts = opened.parts;
  }
  return meta;
}

DType dtype_of(FeatureType type) {
  switch (type) {
    case FeatureType::fp16:
      return DType::float16;
    case FeatureType::bf16:
      return DType::bfloat16;
    case FeatureType::fp32:
      break;
  }
  return DType::float32;
}

std::int64_t StoreWriter::write_edges(CscRequest request, const EdgeStream& edges,
                                      const base::Progress& progress) const {
  MappedArray indices;
  MappedArray weights;
  const DType type = index_type(request.num_vertices);
  const auto allocate = [&](std::int64_t count) {
    indices = MappedArray(path_of("indices.npy"), type, count);
    EdgeBuffers buffers;
    if (type == DType::uint32) {
      buffers.narrow_indices = indices.elements<std::uint32_t>();
    } else {
      buffers.indices = indices.elements<VertexId>();
    }
    if (request.weighted) {
      weights = MappedArray(path_of("edge_weights.npy"), DType::float32, count);
      buffers.weights = weights.elements<float>();
    }
    return buffers;
  };
  request.resources.scratch = directory_.path();
  const auto indptr = build_csc(request, edges, allocate, progress);
  const std::int64_t num_edges = indptr.back();
  indices.finish(num_edges);
  if (request.weighted) {
    weights.finish(num_edges);
  }
  write_array<std::int64_t>("indptr.npy", DType::int64, indptr);
  return num_edges;
}

void StoreWriter::write_label_sets(std::span<const std::uint8_t> sets, std::int64_t num_classes) const {
  NpyWriter writer(path_of("label_sets.npy"), DType::uint8, num_classes);
  writer.write(sets);
  writer.finish();
}

void StoreWriter::commit(const StoreMeta& meta) {
  base::write_document(path_of("meta.json"), meta);
  directory_.commit();
}

void write_store(const Graph& graph, const std::filesystem::path& directory, const base::Progress& progress,
                 std::optional<FeatureType> feature_type) {
  StoreWriter writer(directory);
  StoreMeta meta = meta_of(graph);
  writer.write_array("indptr.npy", DType::int64, graph.indptr);
  write_indices(writer, graph, progress);
  if (!graph.edge_weights.empty()) {
    writer.write_array("edge_weights.npy", DType::float32, graph.edge_weights);
  }
  if (graph.features.any()) {
    meta.feature_type = feature_type.value_or(graph.features.type);
    write_features(writer, graph, meta.feature_type, progress);
  }
  if (graph.num_classes > 0) {
    writer.write_array("labels.npy", DType::int32, graph.labels);
  }
  if (graph.is_multilabel()) {
    writer.write_label_sets(graph.label_sets, graph.num_classes);
  }
  writer.write_array("train.npy", DType::int64, graph.train);
  writer.write_array("valid.npy", DType::int64, graph.valid);
  writer.write_array("test.npy", DType::int64, graph.test);
  if (!graph.original_ids.empty()) {
    writer.write_array("original_ids.npy", DType::int64, graph.original_ids);
  }
  if (meta.parts) {
    writer.write_array("parts.npy", DType::int64, graph.parts->bounds);
    writer.write_array("hubs.npy", DType::int64, graph.parts->hubs);
  }
  if (!graph.directory.empty()) {
    copy_names(graph.directory, writer.path_of(""));
  }
  writer.commit(meta);
}

}  // namespace gnomon::graph
