#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/job.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// Statistics of the first layer in the mini-batches of the job's first two epochs (PreSC#2; GNNLab, EuroSys
/// 2022, section 6.2, restricted to the bottom layer as in NeutronOrch, PVLDB 17(8), section 4.2). They are
/// exactly the mini-batches that an exact plan trains in these epochs.
struct BottomVisits {
  std::vector<std::uint32_t> destinations;  ///< how often each vertex was a destination of the first layer
  std::array<std::int64_t, 2> vertices{};   ///< of all mini-batches of an epoch, by epoch
  std::array<std::int64_t, 2> feature_bytes{};  ///< of these vertices

  /// The number for an epoch; from the third epoch on, the mean of the first two.
  std::int64_t vertices_in(std::int64_t epoch) const { return in(vertices, epoch); }
  std::int64_t feature_bytes_in(std::int64_t epoch) const { return in(feature_bytes, epoch); }

 private:
  static std::int64_t in(const std::array<std::int64_t, 2>& values, std::int64_t epoch) {
    return epoch < 2 ? values[static_cast<std::size_t>(epoch)] : (values[0] + values[1]) / 2;
  }
};

/// Samples the two epochs on `threads` threads of the host.
BottomVisits count_bottom(const PlacedGraph& graph, const plan::Job& job, int threads,
                          const base::Progress& progress);

/// Vertices ranked by how often they are visited.
struct HotSet {
  static constexpr std::uint32_t never = 0xFFFFFFFFU;
  std::vector<graph::VertexId> vertices;  ///< by descending visits; ties by ascending id
  std::vector<std::uint32_t> ranks;       ///< of each vertex of the graph in `vertices`; `never` if not there
};

/// Ranks the vertices that were destinations at least once.
HotSet rank_by_visits(const std::vector<std::uint32_t>& visits);

/// The number of hot vertices for a share of all vertices, at most the number of visited ones.
std::int64_t hot_count(const HotSet& set, double ratio);

/// The first `count` of a HotSet, which must outlive it.
struct HotVertices {
  std::span<const std::uint32_t> ranks;
  std::uint32_t count = 0;

  bool holds(graph::VertexId vertex) const { return ranks[static_cast<std::size_t>(vertex)] < count; }
};

/// The destinations of the first layer in a mini-batch that reuses rows.
struct SplitDestinations {
  std::vector<graph::VertexId> computed;  ///< in the order of the destinations, as `reused`
  std::vector<graph::VertexId> reused;    ///< hot ones
  /// The position of each destination in `computed` followed by `reused`; empty if none is reused.
  std::vector<std::int64_t> order;
};

/// Hot destinations are reused. If all are hot, the first one is computed nevertheless, so that no kernel
/// sees an empty block.
SplitDestinations split(std::span<const graph::VertexId> destinations, const HotVertices& hot);

}  // namespace gnomon::runtime
