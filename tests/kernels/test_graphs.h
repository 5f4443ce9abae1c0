#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace gnomon::kernels {

/// The graph whose vertex v gathers from in_neighbours[v].
inline graph::Graph graph_of(const std::vector<std::vector<graph::VertexId>>& in_neighbours) {
  struct Storage {
    std::vector<std::int64_t> indptr{0};
    std::vector<graph::VertexId> indices;
  };
  auto storage = std::make_shared<Storage>();
  for (const auto& list : in_neighbours) {
    storage->indices.insert(storage->indices.end(), list.begin(), list.end());
    storage->indptr.push_back(static_cast<std::int64_t>(storage->indices.size()));
  }
  graph::Graph graph;
  graph.indptr = storage->indptr;
  graph.indices = storage->indices;
  graph.storage = std::move(storage);
  return graph;
}

/// A simple graph of skewed degrees: a quarter of the vertices is isolated, some gather from over a third of
/// all vertices, the others from a few.
inline graph::Graph skewed_graph(std::int64_t vertices, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<graph::VertexId>> lists(static_cast<std::size_t>(vertices));
  for (auto& list : lists) {
    const auto kind = random() % 16;
    const auto most = static_cast<std::uint64_t>(kind == 15 ? vertices / 2 : 20);
    const auto tries = kind < 4 ? 0 : random() % most;
    std::set<graph::VertexId> members;
    for (std::uint64_t i = 0; i < tries; ++i) {
      members.insert(static_cast<graph::VertexId>(random() % static_cast<std::uint64_t>(vertices)));
    }
    list.assign(members.begin(), members.end());
    std::shuffle(list.begin(), list.end(), random);
  }
  return graph_of(lists);
}

/// The graph with these weights of its edges, in the order of its indices.
inline graph::Graph with_weights(graph::Graph graph, std::vector<float> weights) {
  struct Storage {
    std::vector<float> weights;
    std::shared_ptr<const void> graph;
  };
  auto storage = std::make_shared<Storage>(Storage{std::move(weights), graph.storage});
  graph.edge_weights = storage->weights;
  graph.storage = std::move(storage);
  return graph;
}

/// The graph with random weights: every fifth is 0, the others lie between 2^-reach and 2^reach.
inline graph::Graph with_random_weights(const graph::Graph& graph, double reach, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-reach, reach);
  std::vector<float> weights(static_cast<std::size_t>(graph.num_edges()));
  for (float& weight : weights) {
    weight = random() % 5 == 0 ? 0.0F : static_cast<float>(std::exp2(exponent(random)));
  }
  return with_weights(graph, std::move(weights));
}

/// Vertex 0 gathers from vertices 1 … degree, which gather from nobody.
inline graph::Graph hub_graph(std::int64_t degree) {
  std::vector<std::vector<graph::VertexId>> lists(static_cast<std::size_t>(degree) + 1);
  lists[0].resize(static_cast<std::size_t>(degree));
  std::iota(lists[0].begin(), lists[0].end(), graph::VertexId{1});
  return graph_of(lists);
}

}  // namespace gnomon::kernels
