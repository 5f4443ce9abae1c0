#include "graph/store/builder.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/index.h"
#include "graph/feature_bits.h"
#include "graph/store/csc_builder.h"

namespace gnomon::graph {
namespace {

using base::at;

/// Below this number of edges, starting threads takes longer than the work.
constexpr std::size_t small_edges = std::size_t{1} << 16;

/// The storage of a graph in memory.
struct GraphMemory {
  std::vector<std::int64_t> indptr;
  std::vector<VertexId> indices;
  std::vector<float> edge_weights;
  std::vector<float> features;
  std::vector<std::uint16_t> narrow_features;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> label_sets;
  std::vector<VertexId> train, valid, test;
};

void check_sizes(const GraphParts& parts) {
  if (!parts.features.empty() && parts.features.size() != at(parts.num_vertices * parts.feature_columns)) {
    throw base::InputError(parts.name + ": features", "must have num_vertices × feature_columns elements");
  }
  if (!parts.labels.empty() && parts.labels.size() != at(parts.num_vertices)) {
    throw base::InputError(parts.name + ": labels", "must have one element per vertex");
  }
  if (!parts.label_sets.empty() &&
      (parts.num_classes <= 0 || parts.label_sets.size() % at(parts.num_classes) != 0)) {
    throw base::InputError(parts.name + ": label_sets", "must have num_classes elements per set");
  }
}

Features features_of(GraphMemory& memory, const GraphParts& parts) {
  Features features;
  if (memory.features.empty()) {
    return features;
  }
  features.type = parts.feature_type;
  features.rows = parts.num_vertices;
  features.columns = parts.feature_columns;
  features.data = reinterpret_cast<const std::byte*>(memory.features.data());
  if (parts.feature_type != FeatureType::fp32) {
    round_features(parts.feature_type, memory.features, memory.narrow_features);
    memory.features = {};
    features.data = reinterpret_cast<const std::byte*>(memory.narrow_features.data());
  }
  return features;
}

std::int32_t num_classes_of(const GraphMemory& memory, std::int32_t of_sets) {
  if (memory.labels.empty()) {
    return 0;
  }
  return memory.label_sets.empty() ? 1 + *std::max_element(memory.labels.begin(), memory.labels.end())
                                   : of_sets;
}

}  // namespace

Graph make_graph(GraphParts parts) {
  check_sizes(parts);
  const auto memory = std::make_shared<GraphMemory>();
  const EdgeStream edges = [&](const EdgeVisitor& visit) { visit(parts.edges); };
  const auto allocate = [&](std::int64_t count) {
    memory->indices.resize(at(count));
    memory->edge_weights.resize(parts.weighted ? at(count) : 0);
    return EdgeBuffers{memory->indices.data(), parts.weighted ? memory->edge_weights.data() : nullptr};
  };
  const bool is_small = parts.edges.size() < small_edges;
  memory->indptr = build_csc({parts.num_vertices,
                              parts.edge_options,
                              parts.weighted,
                              parts.name + ": edges",
                              {.threads = is_small ? 1 : 0}},
                             edges, allocate);
  memory->indices.resize(at(memory->indptr.back()));
  memory->edge_weights.resize(parts.weighted ? memory->indices.size() : 0);
  memory->features = std::move(parts.features);
  memory->labels = std::move(parts.labels);
  memory->label_sets = std::move(parts.label_sets);
  memory->train = std::move(parts.train);
  memory->valid = std::move(parts.valid);
  memory->test = std::move(parts.test);

  Graph graph;
  graph.name = parts.name;
  graph.indptr = memory->indptr;
  graph.indices = memory->indices;
  graph.edge_weights = memory->edge_weights;
  graph.features = features_of(*memory, parts);
  graph.labels = memory->labels;
  graph.label_sets = memory->label_sets;
  graph.num_classes = num_classes_of(*memory, parts.num_classes);
  graph.train = memory->train;
  graph.valid = memory->valid;
  graph.test = memory->test;
  graph.storage = memory;
  return graph;
}

}  // namespace gnomon::graph
