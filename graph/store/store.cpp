#include "graph/store/store.h"

#include <cstring>
#include <numeric>

#include "graph/store/feature_writer.h"
#include "graph/store/names.h"

namespace gnomon::graph {
namespace {

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

void write_features(const StoreWriter& writer, const Features& features, StoreMeta& meta) {
  meta.feature_columns = features.columns;
  meta.feature_type = features.type;
  if (features.is_sparse()) {
    std::vector<VertexId> all(static_cast<std::size_t>(features.rows));
    std::iota(all.begin(), all.end(), 0);
    meta.sparse_features = write_sparse_features(writer.path_of(""), features, all);
    return;
  }
  NpyWriter array(writer.path_of("features.npy"), dtype_of(features.type), features.columns);
  array.write(features.data, features.rows * features.columns);
  array.finish();
}

}  // namespace

DType dtype_of(FeatureType type) { return type == FeatureType::fp32 ? DType::float32 : DType::float16; }

std::int64_t StoreWriter::write_edges(CscRequest request, const EdgeStream& edges,
                                      const base::Progress& progress) const {
  MappedArray indices;
  MappedArray weights;
  const auto allocate = [&](std::int64_t count) {
    indices = MappedArray(path_of("indices.npy"), DType::int64, count);
    if (!request.weighted) {
      return EdgeBuffers{indices.elements<VertexId>(), nullptr};
    }
    weights = MappedArray(path_of("edge_weights.npy"), DType::float32, count);
    return EdgeBuffers{indices.elements<VertexId>(), weights.elements<float>()};
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

void StoreWriter::commit(const StoreMeta& meta) {
  base::write_document(path_of("meta.json"), meta);
  directory_.commit();
}

void write_store(const Graph& graph, const std::filesystem::path& directory) {
  StoreWriter writer(directory);
  writer.write_array("indptr.npy", DType::int64, graph.indptr);
  writer.write_array("indices.npy", DType::int64, graph.indices);
  StoreMeta meta{graph.name, graph.num_vertices(), graph.num_edges(), graph.num_classes, 0, {}, {}};
  meta.provenance.made_by = "write_store";
  if (!graph.edge_weights.empty()) {
    meta.edge_weights = true;
    writer.write_array("edge_weights.npy", DType::float32, graph.edge_weights);
  }
  if (graph.features.any()) {
    write_features(writer, graph.features, meta);
  }
  if (graph.num_classes > 0) {
    writer.write_array("labels.npy", DType::int32, graph.labels);
  }
  writer.write_array("train.npy", DType::int64, graph.train);
  writer.write_array("valid.npy", DType::int64, graph.valid);
  writer.write_array("test.npy", DType::int64, graph.test);
  if (!graph.original_ids.empty()) {
    writer.write_array("original_ids.npy", DType::int64, graph.original_ids);
  }
  if (!graph.directory.empty()) {
    copy_names(graph.directory, writer.path_of(""));
  }
  writer.commit(meta);
}

}  // namespace gnomon::graph
