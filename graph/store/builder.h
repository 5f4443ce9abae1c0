#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/store/edges.h"

namespace gnomon::graph {

/// The input of make_graph. Features are row-major fp32, num_vertices × feature_columns, or empty.
struct GraphParts {
  std::string name = "graph";
  std::int64_t num_vertices = 0;
  std::vector<Edge> edges;
  EdgeOptions edge_options{};
  bool weighted = false;  ///< whether the graph holds the edges' weights
  std::vector<float> features;
  std::int64_t feature_columns = 0;
  FeatureType feature_type = FeatureType::fp32;  ///< the graph's type; others round to nearest even
  std::vector<std::int32_t> labels;              ///< num_vertices, or empty; as in Graph
  std::vector<std::uint8_t> label_sets{};        ///< of a multi-label graph
  std::int32_t num_classes = 0;                  ///< of label_sets; else classes are 0 … largest label
  std::vector<VertexId> train, valid, test;
};

/// Makes a graph in memory, for tests and small graphs. Throws InputError for inconsistent sizes and invalid
/// ids.
Graph make_graph(GraphParts parts);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::FeatureType> {
  static constexpr std::array<std::pair<graph::FeatureType, std::string_view>, 3> values{
      {{graph::FeatureType::fp32, "fp32"},
       {graph::FeatureType::fp16, "fp16"},
       {graph::FeatureType::bf16, "bf16"}}};
};
