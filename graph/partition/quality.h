#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// The minimum and maximum over the parts.
struct Extremes {
  std::int64_t min = 0;
  std::int64_t max = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("min", self.min);
    f("max", self.max);
  }
};

/// The sizes of a partition's parts.
struct PartSizes {
  std::vector<std::int64_t> vertices;
  std::vector<std::int64_t> edges;  ///< to the part's vertices
  std::vector<std::int64_t> train;  ///< training vertices
};

/// Those of a graph whose vertices are ordered by part. Precondition: it has parts.
PartSizes part_sizes(const Graph& graph);

/// The quality of a partition.
struct PartitionQuality {
  double cut_share = 0;  ///< share of the edges that connect different parts
  Extremes vertices;
  Extremes train;  ///< training vertices
  Extremes edges;  ///< to the part's vertices
  /// The training vertices of each class in the part that has most of it, summed over the classes; relative
  /// to a perfect division, in which no part has more of a class than its share, rounded up. 1 is the
  /// minimum.
  double label_imbalance = 1;
  PartSizes sizes;  ///< not in documents

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cut_share", self.cut_share);
    f("vertices", self.vertices);
    f("train", self.train);
    f("edges", self.edges);
    f("label_imbalance", self.label_imbalance);
  }
};

/// Reads all edges once, in sequence. Precondition: part_of has a part from 0 to parts - 1 for each vertex.
PartitionQuality quality_of(const Graph& graph, const PartOf& part_of, int parts,
                            const base::Progress& progress = {});

}  // namespace gnomon::graph
