#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// How a graph is divided into parts. random: equal numbers of vertices, chosen at random. metis: METIS
/// (Karypis and Kumar, SIAM Journal on Scientific Computing 20(1), 1998), in memory. gnn_aware: GAP, a
/// streaming partitioner that balances the labels of training vertices (graph/partition/gnn_aware.h).
enum class PartitionMethod : std::uint8_t { random, metis, gnn_aware };

struct PartitionRequest {
  PartitionMethod method = PartitionMethod::gnn_aware;
  int parts = 32;
  std::uint64_t seed = 0;  ///< of random and metis; gnn_aware draws nothing
  int passes = 2;          ///< of gnn_aware over the vertices, the first one included
  /// gnn_aware: maximum number of vertices of one label, and of stored bytes, in a part, relative to an equal
  /// share; absent for no limit.
  std::optional<double> max_load{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("method", self.method);
    f.required("parts", self.parts, base::Range{1, 1 << 30});
    f.required("seed", self.seed, base::non_negative);
    f.required("passes", self.passes, base::Range{1, 1000});
    f("max_load", self.max_load, base::Range{1, 1e9});
  }
  bool operator==(const PartitionRequest&) const = default;
};

/// The part of each vertex, from 0 on. A part may stay empty.
using PartOf = std::vector<std::int32_t>;

/// Partitions the vertices. Deterministic for equal requests. Throws base::InputError if there are more parts
/// than vertices, and for metis if this build does not have it or cannot count the graph's edges; an
/// exception of `progress` cancels it, except within METIS itself.
PartOf partition(const Graph& graph, const PartitionRequest& request, const base::Progress& progress = {});

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::PartitionMethod> {
  static constexpr std::array<std::pair<graph::PartitionMethod, std::string_view>, 3> values{
      {{graph::PartitionMethod::random, "random"},
       {graph::PartitionMethod::metis, "metis"},
       {graph::PartitionMethod::gnn_aware, "gnn_aware"}}};
};
