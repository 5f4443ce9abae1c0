#pragma once

#include <optional>
#include <vector>

#include "base/document.h"
#include "plan/vocabulary.h"

namespace gnomon::profiles {

/// A cache that holds `share` of all vertices (of adjacency lists: of their bytes) answers `hits` of all
/// accesses.
struct HitPoint {
  double share = 0;
  double hits = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("share", self.share, base::Range{0, 1});
    f.required("hits", self.hits, base::Range{0, 1});
  }
};

/// Hit rate against cache size, measured on the graph for one cache policy.
struct HitCurve {
  plan::CachePolicy policy = plan::CachePolicy::none;
  std::vector<HitPoint> points;  ///< rising; linear between them, from (0, 0) to (1, 1)

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("policy", self.policy);
    f.required("points", self.points);
  }
};

/// How similar the accesses of two epochs are: the sum over all vertices of the smaller of the two counts,
/// divided by the first epoch's accesses.
struct Overlap {
  double all = 0;    ///< of all vertices
  double tenth = 0;  ///< of the tenth of all vertices that the first epoch accessed most

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("all", self.all, base::Range{0, 1});
    f.required("tenth", self.tenth, base::Range{0, 1});
  }
};

/// The access distribution of one kind of data.
struct Accesses {
  /// Used if no curve was measured: the vertex of rank r is accessed in proportion to r^-skew; 0 is uniform.
  double skew = 0;
  std::vector<HitCurve> curves;
  std::optional<Overlap> overlap{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("skew", self.skew, base::Range{0, 0.999});
    f("curves", self.curves);
    f("overlap", self.overlap);
  }
};

/// The blocks of a store's file of adjacency lists from which sampling reads drawn neighbours.
struct ListBlocks {
  double block_bytes = 4096;  ///< of a direct read
  double blocks = 0;          ///< that a mini-batch reads, each once in a hop
  double reads = 0;           ///< by which it reads them: near ones are merged
  Accesses accesses;          ///< of all blocks

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("block_bytes", self.block_bytes, base::Range{1, 1e9});
    f.required("blocks", self.blocks, base::non_negative);
    f.required("reads", self.reads, base::non_negative);
    f.required("accesses", self.accesses);
  }
};

/// The share of the first layer's destinations, and of the edges to them, that falls on the hottest vertices,
/// against their share of all vertices. Vertices are ranked by how often they were destinations in two epochs
/// (PreSC#2; GNNLab, EuroSys 2022, section 6.2).
struct HotCurves {
  std::vector<HitPoint> destinations;  ///< as HitCurve's points
  std::vector<HitPoint> edges;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("destinations", self.destinations);
    f.required("edges", self.edges);
  }
};

}  // namespace gnomon::profiles
