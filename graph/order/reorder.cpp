#include "graph/order/reorder.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>

#include "base/index.h"
#include "graph/edge_stream.h"
#include "graph/feature_form.h"
#include "graph/order/ordered_rows.h"
#include "graph/out_degrees.h"
#include "graph/store/csc_builder.h"
#include "graph/store/feature_writer.h"
#include "graph/store/names.h"
#include "graph/store/store.h"
#include "graph/undirected.h"

namespace gnomon::graph {
namespace {

using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                               boost::no_property, std::size_t, std::size_t>;

using base::at;

std::vector<VertexId> identity(std::int64_t vertices) {
  std::vector<VertexId> ids(at(vertices));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<VertexId> by_out_degree(const Graph& graph) {
  const auto degrees = out_degrees<std::int64_t>(graph);
  auto order = identity(graph.num_vertices());
  std::stable_sort(order.begin(), order.end(),
                   [&](VertexId a, VertexId b) { return degrees[at(a)] > degrees[at(b)]; });
  return order;
}

/// Returns the undirected graph.
Csr undirected(const Graph& graph) {
  std::vector<VertexId> indices;
  const auto indptr = build_undirected(graph, [&](std::int64_t count) {
    indices.resize(at(count));
    return EdgeBuffers{indices.data(), nullptr};
  });
  std::vector<std::size_t> targets(indices.begin(), indices.begin() + indptr.back());
  indices = {};
  std::vector<std::size_t> sources;
  sources.reserve(targets.size());
  for (std::size_t vertex = 0; vertex + 1 < indptr.size(); ++vertex) {
    sources.insert(sources.end(), at(indptr[vertex + 1] - indptr[vertex]), vertex);
  }
  return Csr(boost::construct_inplace_from_sources_and_targets, sources, targets, at(graph.num_vertices()));
}

/// Returns the vertex of minimum degree of each component, in ascending order of degree.
std::deque<std::size_t> starts_of(const Csr& graph) {
  std::vector<std::size_t> by_degree(num_vertices(graph));
  std::iota(by_degree.begin(), by_degree.end(), 0);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](std::size_t a, std::size_t b) { return out_degree(a, graph) < out_degree(b, graph); });
  std::vector<bool> seen(by_degree.size(), false);
  std::deque<std::size_t> starts;
  std::vector<std::size_t> reached;
  for (const std::size_t start : by_degree) {
    if (seen[start]) {
      continue;
    }
    starts.push_back(start);
    seen[start] = true;
    reached.assign(1, start);
    while (!reached.empty()) {
      const std::size_t vertex = reached.back();
      reached.pop_back();
      for (auto [edge, end] = out_edges(vertex, graph); edge != end; ++edge) {
        if (const std::size_t next = target(*edge, graph); !seen[next]) {
          seen[next] = true;
          reached.push_back(next);
        }
      }
    }
  }
  return starts;
}

std::vector<VertexId> reverse_cuthill_mckee(const Graph& graph) {
  const Csr csr = undirected(graph);
  std::vector<VertexId> order(num_vertices(csr));
  std::vector<boost::default_color_type> colours(order.size());
  boost::cuthill_mckee_ordering(
      csr, starts_of(csr), order.rbegin(),
      boost::make_iterator_property_map(colours.begin(), boost::typed_identity_property_map<std::size_t>()),
      boost::make_out_degree_map(csr));
  return order;
}

/// The parts of a graph with permuted vertex ids.
class Renumbering {
 public:
  Renumbering(const Graph& graph, std::span<const VertexId> order) : graph_(graph), order_(order) {
    new_ids_.resize(order.size());
    for (std::size_t id = 0; id < order.size(); ++id) {
      new_ids_[at(order[id])] = static_cast<VertexId>(id);
    }
  }

  /// The edges with their new ids, unsorted.
  EdgeStream edges() const {
    return edges_as(graph_, [this](VertexId id) { return new_ids_[at(id)]; });
  }
  CscRequest request(const Resources& resources) const {
    return {graph_.num_vertices(),
            {.duplicates = Duplicates::keep},
            !graph_.edge_weights.empty(),
            graph_.name,
            resources};
  }
  /// Returns the new ids of these vertices, ascending.
  std::vector<VertexId> new_ids(std::span<const VertexId> vertices) const {
    std::vector<VertexId> ids;
    ids.reserve(vertices.size());
    for (const VertexId vertex : vertices) {
      ids.push_back(new_ids_[at(vertex)]);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// Returns an array with one value per vertex in the new order; an empty array stays empty.
  template <class T>
  std::vector<T> permuted(std::span<const T> values) const {
    std::vector<T> result;
    for (const VertexId vertex : values.empty() ? std::span<const VertexId>() : order_) {
      result.push_back(values[at(vertex)]);
    }
    return result;
  }
  std::vector<VertexId> original_ids() const {
    return graph_.original_ids.empty() ? std::vector(order_.begin(), order_.end())
                                       : permuted(graph_.original_ids);
  }

 private:
  const Graph& graph_;
  std::span<const VertexId> order_;
  std::vector<VertexId> new_ids_;  ///< by old id
};

/// Writes the feature rows in that order.
void write_features(const StoreWriter& writer, const Features& features, std::span<const VertexId> order,
                    const Resources& resources, const base::Progress& progress) {
  if (features.is_sparse()) {
    base::report(progress, "reordering features", 0, 0);
    write_sparse_features(writer.path_of(""), features, order);
    return;
  }
  NpyWriter array(writer.path_of("features.npy"), dtype_of(features.type), features.columns);
  visit_rows(
      features, order, resources,
      [&](std::span<const std::byte> rows) {
        array.write(rows.data(), std::ssize(rows) / bytes_of(features.type));
      },
      progress);
  array.finish();
}

/// The features' arrays in memory, with the rows in another order.
struct OrderedFeatures {
  std::vector<std::byte> data;
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> entry_columns;

  OrderedFeatures(const Features& features, std::span<const VertexId> order) {
    if (!features.is_sparse()) {
      data.reserve(features.data_bytes().size());
      visit_rows(features, order, {},
                 [&](std::span<const std::byte> rows) { data.insert(data.end(), rows.begin(), rows.end()); });
      return;
    }
    indptr.push_back(0);
    for (const VertexId vertex : order) {
      const auto row = row_of(features, vertex);
      entry_columns.insert(entry_columns.end(), row.columns.begin(), row.columns.end());
      data.insert(data.end(), row.values.begin(), row.values.end());
      indptr.push_back(std::ssize(entry_columns));
    }
  }
  /// The features on these arrays, which must outlive them.
  Features on_them(Features features) const {
    features.data = features.data == nullptr ? nullptr : data.data();
    features.indptr = indptr;
    features.entry_columns = entry_columns;
    return features;
  }
};

}  // namespace

std::vector<VertexId> vertices_in_order(const Graph& graph, VertexOrder order) {
  switch (order) {
    case VertexOrder::degree:
      return by_out_degree(graph);
    case VertexOrder::rcm:
      return reverse_cuthill_mckee(graph);
    case VertexOrder::none:
      break;
  }
  return identity(graph.num_vertices());
}

Graph reordered(const Graph& graph, std::span<const VertexId> order) {
  struct Storage {
    std::vector<std::int64_t> indptr;
    std::vector<VertexId> indices, train, valid, test, original_ids;
    std::vector<float> edge_weights;
    std::optional<OrderedFeatures> features;
    std::vector<std::int32_t> labels;
    std::vector<std::uint8_t> label_sets;
  };
  const Renumbering renumbering(graph, order);
  const auto storage = std::make_shared<Storage>();
  storage->indptr = build_csc(renumbering.request({}), renumbering.edges(), [&](std::int64_t count) {
    storage->indices.resize(at(count));
    storage->edge_weights.resize(graph.edge_weights.empty() ? 0 : at(count));
    return EdgeBuffers{storage->indices.data(), storage->edge_weights.data()};
  });
  if (graph.features.any()) {
    storage->features.emplace(graph.features, order);
  }
  storage->labels = renumbering.permuted(graph.labels);
  storage->label_sets.assign(graph.label_sets.begin(), graph.label_sets.end());
  storage->train = renumbering.new_ids(graph.train);
  storage->valid = renumbering.new_ids(graph.valid);
  storage->test = renumbering.new_ids(graph.test);
  storage->original_ids = renumbering.original_ids();

  Graph result = graph;
  result.directory.clear();
  result.parts.reset();
  result.indptr = storage->indptr;
  result.indices = storage->indices;
  result.edge_weights = storage->edge_weights;
  if (storage->features) {
    result.features = storage->features->on_them(graph.features);
  }
  result.labels = storage->labels;
  result.label_sets = storage->label_sets;
  result.train = storage->train;
  result.valid = storage->valid;
  result.test = storage->test;
  result.original_ids = storage->original_ids;
  result.storage = storage;
  return result;
}

void write_reordered(const Graph& graph, std::span<const VertexId> order, const StoreWriter& writer,
                     Resources resources, const base::Progress& progress) {
  resources.scratch = writer.path_of("");
  const Renumbering renumbering(graph, order);
  const auto write = [&]<class T>(const char* file, DType type, const std::vector<T>& values) {
    writer.write_array<T>(file, type, values);
  };
  writer.write_edges(renumbering.request(resources), renumbering.edges(), progress);
  if (graph.features.any()) {
    write_features(writer, graph.features, order, resources, progress);
  }
  if (graph.num_classes > 0) {
    write("labels.npy", DType::int32, renumbering.permuted(graph.labels));
  }
  if (graph.is_multilabel()) {
    writer.write_label_sets(graph.label_sets, graph.num_classes);
  }
  write("train.npy", DType::int64, renumbering.new_ids(graph.train));
  write("valid.npy", DType::int64, renumbering.new_ids(graph.valid));
  write("test.npy", DType::int64, renumbering.new_ids(graph.test));
  write("original_ids.npy", DType::int64, renumbering.original_ids());
}

void write_in_order(VertexOrder order, const std::filesystem::path& directory,
                    const std::function<void(const std::filesystem::path&)>& write,
                    const base::Progress& progress, const Resources& resources) {
  if (order == VertexOrder::none) {
    write(directory);
    return;
  }
  StoreWriter writer(directory);
  const auto unordered = writer.path_of("unordered");
  write(unordered);
  auto meta = read_store_meta(unordered);
  meta.order = order;
  meta.parts.reset();
  {
    const Graph graph = open_store(unordered);
    base::report(progress, "ordering vertices", 0, 0);
    write_reordered(graph, vertices_in_order(graph, order), writer, resources, progress);
  }
  copy_names(unordered, writer.path_of(""));
  std::filesystem::remove_all(unordered);
  writer.commit(meta);
}

}  // namespace gnomon::graph
