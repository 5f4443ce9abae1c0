#include "graph/graph.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "base/usable.h"
#include "graph/feature_bits.h"
#include "graph/feature_form.h"
#include "graph/partition/parts.h"
#include "graph/store/npy.h"
#include "graph/store/store.h"
#include "graph/trainable.h"

namespace gnomon::graph {
namespace {

/// Returns the smallest index in [0, count) at which `faulty` holds, if any. Searches on all cores.
template <class Faulty>
std::optional<std::int64_t> first_fault(std::int64_t count, Faulty faulty) {
  constexpr std::int64_t block = 1 << 15;
  const std::int64_t blocks = (count + block - 1) / block;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> found{count};
  const auto work = [&] {
    for (std::int64_t mine = next++; mine < blocks && mine * block < found.load(); mine = next++) {
      const std::int64_t end = std::min((mine + 1) * block, count);
      for (std::int64_t i = mine * block; i < end; ++i) {
        if (faulty(i)) {
          std::int64_t best = found.load();
          while (i < best && !found.compare_exchange_weak(best, i)) {
          }
          break;
        }
      }
    }
  };
  const auto helpers = std::min<std::int64_t>(blocks, base::usable_cores()) - 1;
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < helpers; ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  return found < count ? std::optional(found.load()) : std::nullopt;
}

std::string number(std::int64_t value) { return std::to_string(value); }

using base::at;

void check_topology(const Graph& graph) {
  if (graph.indptr.empty() || graph.indptr.front() != 0 || graph.indptr.back() != graph.num_edges()) {
    throw base::InputError(where_of(graph, "indptr"),
                           "must begin with 0 and end with " + number(graph.num_edges()));
  }
  const auto& indptr = graph.indptr;
  if (const auto bad =
          first_fault(graph.num_vertices(), [&](auto v) { return indptr[at(v + 1)] < indptr[at(v)]; })) {
    throw base::InputError(where_of(graph, "indptr"), "not monotone at position " + number(*bad + 1) + ": " +
                                                          number(indptr[at(*bad + 1)]) + " after " +
                                                          number(indptr[at(*bad)]));
  }
  const auto beyond = static_cast<std::uint64_t>(graph.num_vertices());
  const auto bad = graph.indices.visit([&](auto ids) {
    return first_fault(graph.num_edges(),
                       [&](auto e) { return static_cast<std::uint64_t>(ids[at(e)]) >= beyond; });
  });
  if (bad) {
    throw base::InputError(where_of(graph, "indices"),
                           "vertex " + number(graph.indices[at(*bad)]) + " at position " + number(*bad) +
                               " is out of range; use 0 to " + number(graph.num_vertices() - 1));
  }
}

void check_weights(const Graph& graph) {
  const auto& weights = graph.edge_weights;
  if (weights.empty()) {
    return;
  }
  if (weights.size() != graph.indices.size()) {
    throw base::InputError(where_of(graph, "edge_weights"), "has " + number(std::ssize(weights)) +
                                                                " weights; must be " +
                                                                number(graph.num_edges()) + ", one per edge");
  }
  if (const auto bad = first_fault(
          graph.num_edges(), [&](auto e) { return !std::isfinite(weights[at(e)]) || weights[at(e)] < 0; })) {
    throw base::InputError(where_of(graph, "edge_weights"), "weight " + std::to_string(weights[at(*bad)]) +
                                                                " at position " + number(*bad) +
                                                                "; must be finite and not negative");
  }
}

/// Whether any of these elements is infinite or NaN, that is, has all exponent bits set.
bool has_non_finite(FeatureType type, const std::byte* elements, std::int64_t count) {
  return with_bits_of(type, [&](auto bits) {
    using Word = typename decltype(bits)::Word;
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i) {
      Word word{};
      std::memcpy(&word, elements + at(i) * sizeof(Word), sizeof(Word));
      any |= (word & bits.exponent) == bits.exponent;
    }
    return any;
  });
}

void check_dense_features(const Graph& graph) {
  const Features& features = graph.features;
  const auto bad_row = [&](VertexId v) {
    return has_non_finite(features.type, features.row(v), features.columns);
  };
  if (const auto bad = first_fault(features.rows, bad_row)) {
    throw base::InputError(where_of(graph, "features"),
                           "NaN or infinite in row " + number(*bad) + "; features must be finite");
  }
}

/// Checks the columns of each row, after the row pointers.
void check_feature_columns(const Graph& graph) {
  const Features& features = graph.features;
  const auto bad_row = [&](VertexId v) {
    const auto columns = row_of(features, v).columns;
    return !columns.empty() &&
           (columns.front() < 0 || columns.back() >= features.columns ||
            std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) != columns.end());
  };
  if (const auto bad = first_fault(features.rows, bad_row)) {
    throw base::InputError(where_of(graph, "features_columns"),
                           "the columns of row " + number(*bad) +
                               " must be ascending, each once, from 0 to " + number(features.columns - 1));
  }
}

void check_sparse_features(const Graph& graph) {
  const Features& features = graph.features;
  const auto& indptr = features.indptr;
  if (indptr.front() != 0 || indptr.back() != features.num_entries()) {
    throw base::InputError(where_of(graph, "features_indptr"),
                           "must begin with 0 and end with " + number(features.num_entries()));
  }
  if (const auto bad =
          first_fault(features.rows, [&](auto v) { return indptr[at(v + 1)] < indptr[at(v)]; })) {
    throw base::InputError(where_of(graph, "features_indptr"),
                           "not monotone at position " + number(*bad + 1));
  }
  check_feature_columns(graph);
  const auto bad_value = [&](std::int64_t entry) {
    return has_non_finite(features.type, features.data + entry * bytes_of(features.type), 1);
  };
  const auto bad = features.data == nullptr ? std::nullopt : first_fault(features.num_entries(), bad_value);
  if (bad) {
    const auto row = std::upper_bound(indptr.begin(), indptr.end(), *bad) - indptr.begin() - 1;
    throw base::InputError(where_of(graph, "features_values"),
                           "NaN or infinite in row " + number(row) + "; features must be finite");
  }
}

void check_features(const Graph& graph) {
  const Features& features = graph.features;
  if (!features.any()) {
    return;
  }
  if (features.rows != graph.num_vertices()) {
    throw base::InputError(where_of(graph, "features"), "has " + number(features.rows) + " rows; must be " +
                                                            number(graph.num_vertices()) +
                                                            ", one per vertex");
  }
  if (features.is_sparse()) {
    check_sparse_features(graph);
  } else {
    check_dense_features(graph);
  }
}

void check_label_sets(const Graph& graph) {
  const auto bad = std::find_if(graph.label_sets.begin(), graph.label_sets.end(),
                                [](std::uint8_t element) { return element > 1; });
  if (bad != graph.label_sets.end()) {
    throw base::InputError(where_of(graph, "label_sets"),
                           "has " + number(*bad) + " in row " +
                               number((bad - graph.label_sets.begin()) / graph.num_classes) +
                               "; use 1 for classes of the set and 0 for others");
  }
}

void check_labels(const Graph& graph) {
  if (graph.labels.empty()) {
    return;
  }
  check_label_sets(graph);
  const auto& labels = graph.labels;
  if (static_cast<std::int64_t>(labels.size()) != graph.num_vertices()) {
    throw base::InputError(where_of(graph, "labels"), "has " + number(std::ssize(labels)) +
                                                          " labels; must be " + number(graph.num_vertices()) +
                                                          ", one per vertex");
  }
  if (const auto bad = first_fault(graph.num_vertices(), [&](VertexId v) {
        return labels[at(v)] < -1 || labels[at(v)] >= graph.num_label_values();
      })) {
    throw base::InputError(where_of(graph, "labels"), "label " + number(labels[at(*bad)]) + " of vertex " +
                                                          number(*bad) + " is out of range; use 0 to " +
                                                          number(graph.num_label_values() - 1) +
                                                          ", or -1 for unknown");
  }
}

void check_splits(const Graph& graph) {
  std::vector<char> owner(at(graph.num_vertices()), 0);
  constexpr const char* names[] = {"train", "valid", "test"};
  const std::span<const VertexId> splits[] = {graph.train, graph.valid, graph.test};
  for (std::size_t s = 0; s < 3; ++s) {
    const std::string where = where_of(graph, names[s]);
    for (std::size_t i = 0; i < splits[s].size(); ++i) {
      const VertexId vertex = splits[s][i];
      const auto text = [&] { return "vertex " + number(vertex); };
      if (vertex < 0 || vertex >= graph.num_vertices()) {
        throw base::InputError(where,
                               text() + " is out of range; use 0 to " + number(graph.num_vertices() - 1));
      }
      char& owned = owner[at(vertex)];
      if (owned == static_cast<char>(s + 1)) {
        throw base::InputError(where, text() + " is repeated; list each vertex once");
      }
      if (owned != 0) {
        throw base::InputError(
            where, text() + " is also in the split " + names[owned - 1] + "; splits must be disjoint");
      }
      if (i > 0 && vertex < splits[s][i - 1]) {
        throw base::InputError(where,
                               text() + " follows " + number(splits[s][i - 1]) + "; must be ascending");
      }
      owned = static_cast<char>(s + 1);
    }
  }
}

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
  /// Opens ids of 32 or 64 bits.
  Indices indices(const char* file, std::int64_t count) {
    MappedNpy npy = map_npy(directory_ / file);
    if (npy.header.type == DType::uint32) {
      expect_npy(npy, DType::uint32, {count});
      return Indices(keep<std::uint32_t>(std::move(npy)));
    }
    expect_npy(npy, DType::int64, {count});
    return keep<VertexId>(std::move(npy));
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

/// Checks the first and the last row pointer, which is cheap and prevents reads beyond the end of the
/// entries.
void check_ends(std::span<const std::int64_t> indptr, const std::filesystem::path& file, const char* entries,
                std::int64_t count) {
  if (indptr.front() != 0) {
    throw base::InputError(file.string(), "begins with " + number(indptr.front()) + "; must be 0");
  }
  if (indptr.back() != count) {
    throw base::InputError(
        file.string(), "ends with " + number(indptr.back()) + "; must be " + entries + " " + number(count));
  }
}

Features open_features(StoreReader& reader, const StoreMeta& meta, const std::filesystem::path& directory) {
  Features features{nullptr, meta.feature_type, meta.num_vertices, meta.feature_columns};
  const DType type = dtype_of(meta.feature_type);
  if (!meta.sparse_features) {
    features.data =
        reader.array<std::byte>("features.npy", type, {meta.num_vertices, meta.feature_columns}).data();
    return features;
  }
  const std::int64_t entries = meta.sparse_features->entries;
  features.indptr = reader.array<std::int64_t>("features_indptr.npy", DType::int64, {meta.num_vertices + 1});
  features.entry_columns = reader.array<std::int32_t>("features_columns.npy", DType::int32, {entries});
  if (meta.sparse_features->values) {
    features.data = reader.array<std::byte>("features_values.npy", type, {entries}).data();
  }
  check_ends(features.indptr, directory / "features_indptr.npy", "sparse_features.entries", entries);
  return features;
}

/// Opens the parts, and checks that they cover the vertices.
std::shared_ptr<const Parts> open_parts(StoreReader& reader, const StoreMeta& meta,
                                        const std::filesystem::path& directory) {
  if (!meta.parts) {
    return nullptr;
  }
  auto parts = std::make_shared<Parts>();
  parts->request = meta.parts->request;
  parts->hub_steps = meta.parts->hub_steps;
  parts->bounds = reader.array<VertexId>("parts.npy", DType::int64, {meta.parts->request.parts + 1});
  parts->hubs = reader.array<VertexId>("hubs.npy", DType::int64, {meta.parts->hubs});
  if (parts->bounds.front() != 0 || parts->bounds.back() != meta.num_vertices ||
      !std::is_sorted(parts->bounds.begin(), parts->bounds.end())) {
    throw base::InputError((directory / "parts.npy").string(),
                           "must ascend from 0 to num_vertices " + number(meta.num_vertices));
  }
  const auto wrong = std::find_if(parts->hubs.begin(), parts->hubs.end(),
                                  [&](VertexId vertex) { return vertex < 0 || vertex >= meta.num_vertices; });
  if (wrong != parts->hubs.end()) {
    throw base::InputError(
        (directory / "hubs.npy").string(),
        "vertex " + number(*wrong) + " is out of range; use 0 to " + number(meta.num_vertices - 1));
  }
  return parts;
}

/// Throws InputError for what is no directory, with the way to a store.
void check_is_store(const std::filesystem::path& path) {
  const auto name = path.string();
  if (!std::filesystem::exists(path)) {
    throw base::InputError(name, "does not exist; name a graph store, as made by gnomon import");
  }
  if (!std::filesystem::is_directory(path)) {
    throw base::InputError(name, "is a file, not a graph store; make one with: gnomon import FORMAT " + name +
                                     " STORE (gnomon import --help lists the formats), or run: gnomon demo " +
                                     name);
  }
}

}  // namespace

Graph open_store(const std::filesystem::path& directory) {
  check_is_store(directory);
  const StoreMeta meta = read_store_meta(directory);
  StoreReader reader(directory);
  Graph graph;
  graph.name = meta.name;
  graph.directory = directory;
  graph.indptr = reader.array<std::int64_t>("indptr.npy", DType::int64, {meta.num_vertices + 1});
  graph.indices = reader.indices("indices.npy", meta.num_edges);
  if (meta.edge_weights) {
    graph.edge_weights = reader.array<float>("edge_weights.npy", DType::float32, {meta.num_edges});
  }
  if (meta.feature_columns > 0) {
    graph.features = open_features(reader, meta, directory);
  }
  if (meta.num_classes > 0) {
    graph.labels = reader.array<std::int32_t>("labels.npy", DType::int32, {meta.num_vertices});
    graph.num_classes = meta.num_classes;
    if (meta.label_sets) {
      graph.label_sets =
          reader.array<std::uint8_t>("label_sets.npy", DType::uint8, {*meta.label_sets, meta.num_classes});
    }
  }
  graph.train = reader.split("train.npy");
  graph.valid = reader.split("valid.npy");
  graph.test = reader.split("test.npy");
  if (std::filesystem::exists(directory / "original_ids.npy")) {
    graph.original_ids = reader.array<VertexId>("original_ids.npy", DType::int64, {meta.num_vertices});
  }
  graph.parts = open_parts(reader, meta, directory);
  graph.storage = reader.storage();
  check_ends(graph.indptr, directory / "indptr.npy", "num_edges", graph.num_edges());
  return graph;
}

void validate(const Graph& graph, bool for_training) {
  check_topology(graph);
  check_weights(graph);
  check_features(graph);
  check_labels(graph);
  check_splits(graph);
  if (for_training) {
    check_trainable(graph);
  }
}

}  // namespace gnomon::graph
