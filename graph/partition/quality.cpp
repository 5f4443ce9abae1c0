#include "graph/partition/quality.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/index.h"
#include "graph/partition/parts.h"
#include "graph/visit_lists.h"

namespace gnomon::graph {
namespace {

using base::at;
using Counts = std::vector<std::int64_t>;

Extremes extremes_of(const Counts& counts) {
  const auto [min, max] = std::minmax_element(counts.begin(), counts.end());
  return {*min, *max};
}

double label_imbalance(const Graph& graph, const PartOf& part_of, int parts) {
  if (graph.labels.empty()) {
    return 1;
  }
  // Of a multi-label graph all training vertices count as one class, as in gnn_aware partitions.
  const std::int32_t classes = graph.is_multilabel() ? 1 : graph.num_classes;
  std::vector<Counts> by_class(at(classes), Counts(at(parts), 0));
  for (const VertexId vertex : graph.train) {
    if (const std::int32_t label = graph.labels[at(vertex)]; label >= 0) {
      ++by_class[at(std::min(label, classes - 1))][at(part_of[at(vertex)])];
    }
  }
  std::int64_t largest = 0;
  std::int64_t perfect = 0;
  for (const Counts& counts : by_class) {
    std::int64_t all = 0;
    for (const std::int64_t count : counts) {
      all += count;
    }
    largest += *std::max_element(counts.begin(), counts.end());
    perfect += (all + parts - 1) / parts;
  }
  return perfect == 0 ? 1 : static_cast<double>(largest) / static_cast<double>(perfect);
}

}  // namespace

PartSizes part_sizes(const Graph& graph) {
  const auto bounds = graph.parts->bounds;
  PartSizes sizes;
  for (std::size_t part = 0; part + 1 < bounds.size(); ++part) {
    sizes.vertices.push_back(bounds[part + 1] - bounds[part]);
    sizes.edges.push_back(graph.indptr[at(bounds[part + 1])] - graph.indptr[at(bounds[part])]);
  }
  sizes.train.resize(sizes.vertices.size(), 0);
  for (const VertexId vertex : graph.train) {
    ++sizes.train[at(graph.parts->part_of(vertex))];
  }
  return sizes;
}

PartitionQuality quality_of(const Graph& graph, const PartOf& part_of, int parts,
                            const base::Progress& progress) {
  Counts vertices(at(parts), 0), train(at(parts), 0), edges(at(parts), 0);
  std::int64_t cut = 0;
  visit_lists(graph, {"counting cut edges"}, progress, [&](VertexId vertex, auto neighbours) {
    const std::int32_t part = part_of[at(vertex)];
    ++vertices[at(part)];
    edges[at(part)] += std::ssize(neighbours);
    for (const auto neighbour : neighbours) {
      cut += part_of[static_cast<std::size_t>(neighbour)] == part ? 0 : 1;
    }
  });
  for (const VertexId vertex : graph.train) {
    ++train[at(part_of[at(vertex)])];
  }
  PartitionQuality quality;
  quality.cut_share =
      static_cast<double>(cut) / static_cast<double>(std::max<std::int64_t>(1, graph.num_edges()));
  quality.vertices = extremes_of(vertices);
  quality.train = extremes_of(train);
  quality.edges = extremes_of(edges);
  quality.label_imbalance = label_imbalance(graph, part_of, parts);
  quality.sizes = {std::move(vertices), std::move(edges), std::move(train)};
  return quality;
}

}  // namespace gnomon::graph
