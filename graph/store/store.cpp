#include "graph/store/store.h"

#include <cstring>

#include "base/error.h"

namespace gnomon::graph {
namespace {

/// Opens the arrays of one store and owns their memory maps.
class StoreReader {
 public:
  explicit StoreReader(std::filesystem::path directory) : directory_(std::move(directory)) {}

  template <class T>
  std::span<const T> array(const char* file, DType type, const std::vector<std::int64_t>& shape) {
    MappedNpy npy = map_npy(directory_ / file);
    expect_npy(npy, type, shape);
    return keep<T>(std::move(npy));
  }
  /// Opens a one-dimensional array of any length.
  std::span<const VertexId> split(const char* file) {
    MappedNpy npy = map_npy(directory_ / file);
    expect_npy(npy, DType::int64, {npy.header.elements()});
    return keep<VertexId>(std::move(npy));
  }
  std::shared_ptr<const void> storage() {
    return std::make_shared<const std::vector<MappedNpy>>(std::move(arrays_));
  }

 private:
  template <class T>
  std::span<const T> keep(MappedNpy npy) {
    return arrays_.emplace_back(std::move(npy)).template span<T>();
  }
  std::filesystem::path directory_;
  std::vector<MappedNpy> arrays_;
};

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

/// Checks the first and the last row pointer, which is cheap and prevents reads beyond the end of indices.
void check_ends(const Graph& graph) {
  const std::string where = (graph.directory / "indptr.npy").string();
  if (graph.indptr.front() != 0) {
    throw base::InputError(where, "begins with " + std::to_string(graph.indptr.front()) + "; must be 0");
  }
  if (graph.indptr.back() != graph.num_edges()) {
    throw base::InputError(where, "ends with " + std::to_string(graph.indptr.back()) +
                                      "; must be num_edges " + std::to_string(graph.num_edges()));
  }
}

}  // namespace

DType dtype_of(FeatureType type) { return type == FeatureType::fp32 ? DType::float32 : DType::float16; }

Graph open_store(const std::filesystem::path& directory) {
  const auto meta = base::read_document<StoreMeta>(directory / "meta.json");
  StoreReader reader(directory);
  Graph graph;
  graph.name = meta.name;
  graph.directory = directory;
  graph.indptr = reader.array<std::int64_t>("indptr.npy", DType::int64, {meta.num_vertices + 1});
  graph.indices = reader.array<VertexId>("indices.npy", DType::int64, {meta.num_edges});
  if (meta.edge_weights) {
    graph.edge_weights = reader.array<float>("edge_weights.npy", DType::float32, {meta.num_edges});
  }
  if (meta.feature_columns > 0) {
    const auto bytes = reader.array<std::byte>("features.npy", dtype_of(meta.feature_type),
                                               {meta.num_vertices, meta.feature_columns});
    graph.features = {bytes.data(), meta.feature_type, meta.num_vertices, meta.feature_columns};
  }
  if (meta.num_classes > 0) {
    graph.labels = reader.array<std::int32_t>("labels.npy", DType::int32, {meta.num_vertices});
    graph.num_classes = meta.num_classes;
  }
  graph.train = reader.split("train.npy");
  graph.valid = reader.split("valid.npy");
  graph.test = reader.split("test.npy");
  if (std::filesystem::exists(directory / "original_ids.npy")) {
    graph.original_ids = reader.array<VertexId>("original_ids.npy", DType::int64, {meta.num_vertices});
  }
  graph.storage = reader.storage();
  check_ends(graph);
  return graph;
}

std::int64_t StoreWriter::write_edges(std::int64_t num_vertices, const EdgeStream& edges,
                                      const EdgeOptions& options, bool weighted, const std::string& where,
                                      const base::Progress& progress) const {
  MappedArray indices;
  MappedArray weights;
  const auto allocate = [&](std::int64_t count) {
    indices = MappedArray(path_of("indices.npy"), DType::int64, count);
    if (!weighted) {
      return EdgeBuffers{indices.elements<VertexId>(), nullptr};
    }
    weights = MappedArray(path_of("edge_weights.npy"), DType::float32, count);
    return EdgeBuffers{indices.elements<VertexId>(), weights.elements<float>()};
  };
  const auto indptr = build_csc(num_vertices, edges, options, allocate, where, progress);
  const std::int64_t num_edges = indptr.back();
  indices.finish(num_edges);
  if (weighted) {
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
  if (const Features& features = graph.features; features.data != nullptr) {
    meta.feature_columns = features.columns;
    meta.feature_type = features.type;
    NpyWriter array(writer.path_of("features.npy"), dtype_of(features.type), features.columns);
    array.write(features.data, features.rows * features.columns);
    array.finish();
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
  writer.commit(meta);
}

}  // namespace gnomon::graph
