#pragma once

#include <optional>

#include "base/document.h"

namespace gnomon::profiles {

/// Mean sizes of one hop of a mini-batch, and their standard deviations over the full mini-batches, where
/// these are known.
struct HopCounts {
  double destinations = 0;  ///< vertices whose neighbours are drawn
  double edges = 0;
  std::optional<double> destinations_deviation{};
  std::optional<double> edges_deviation{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("destinations", self.destinations, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f("destinations_deviation", self.destinations_deviation, base::non_negative);
    f("edges_deviation", self.edges_deviation, base::non_negative);
  }
};

/// Standard deviations over the full mini-batches.
struct BatchDeviations {
  double vertices = 0;
  double edges = 0;
  double bytes = 0;  ///< copied by a transfer

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("vertices", self.vertices, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f.required("bytes", self.bytes, base::non_negative);
  }
};

/// Mini-batches with smaller fanouts than the job's, relative to these: how times fall with sizes.
struct ThinBatch {
  double edges = 1;
  double vertices = 1;
  double cpu_batch = 1;  ///< time of preparation by one worker
  double train = 1;      ///< time of training

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("edges", self.edges, base::Range{0, 1});
    f.required("vertices", self.vertices, base::Range{0, 1});
    f.required("cpu_batch", self.cpu_batch, base::non_negative);
    f.required("train", self.train, base::non_negative);
  }
};

/// Mini-batches that reuse the first layer's rows of hot vertices (plan::Reuse::hot), relative to usual ones.
struct HotBatch {
  double edges = 1;         ///< that are sampled
  double device_batch = 1;  ///< time of preparation on the device
  double train = 1;         ///< time of training

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("edges", self.edges, base::Range{0, 1});
    f.required("device_batch", self.device_batch, base::non_negative);
    f.required("train", self.train, base::non_negative);
  }
};

/// Mini-batches whose seeds and neighbours are drawn among a share of the vertices, as from macro-batches of
/// whole parts, relative to mini-batches of as many seeds that are drawn from the graph.
struct ResidentBatch {
  double resident = 0;    ///< share of the vertices: of the store's parts, or else chosen at random
  double neighbours = 0;  ///< share of the list entries of drawn vertices that are resident
  double edges = 0;
  double vertices = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("resident", self.resident, base::Range{0, 1});
    f.required("neighbours", self.neighbours, base::Range{0, 1});
    f.required("edges", self.edges, base::non_negative);
    f.required("vertices", self.vertices, base::non_negative);
  }
};

}  // namespace gnomon::profiles
