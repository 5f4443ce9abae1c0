#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/index.h"
#include "graph/graph.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::test {

/// The graph with labels of `classes` classes, a few of them unknown, of which every second vertex trains.
inline graph::Graph with_labels(graph::Graph graph, std::int32_t classes, std::uint64_t seed) {
  struct Storage {
    std::vector<std::int32_t> labels;
    std::vector<graph::VertexId> train;
    std::shared_ptr<const void> graph;
  };
  std::mt19937_64 random(seed);
  auto storage = std::make_shared<Storage>();
  for (graph::VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    const bool is_known = random() % 10 > 0;
    storage->labels.push_back(is_known ? static_cast<std::int32_t>(random() % base::at(classes)) : -1);
    if (vertex % 2 == 0) {
      storage->train.push_back(vertex);
    }
  }
  graph.labels = storage->labels;
  graph.num_classes = classes;
  graph.train = storage->train;
  storage->graph = graph.storage;
  graph.storage = std::move(storage);
  return graph;
}

/// An undirected graph of communities: vertex v belongs to v mod communities and has about `degree`
/// neighbours, a tenth of them outside.
inline graph::Graph community_graph(std::int64_t vertices, std::int64_t communities, std::int64_t degree,
                                    std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % base::at(bound));
  };
  std::vector<std::set<graph::VertexId>> lists(base::at(vertices));
  for (std::int64_t edge = 0; edge < vertices * degree / 2; ++edge) {
    const auto one = below(vertices);
    const auto inside = one % communities + communities * below(vertices / communities);
    const auto other = below(10) == 0 ? below(vertices) : inside;
    if (one != other) {
      lists[base::at(one)].insert(other);
      lists[base::at(other)].insert(one);
    }
  }
  std::vector<std::vector<graph::VertexId>> rows;
  for (const auto& list : lists) {
    rows.emplace_back(list.begin(), list.end());
  }
  return graph_of(rows);
}

}  // namespace gnomon::test
