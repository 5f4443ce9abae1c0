#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// How often sampled mini-batches used each vertex. Both lists are empty if nothing was counted.
struct Visits {
  std::vector<std::uint32_t> rows;   ///< its feature row
  std::vector<std::uint32_t> lists;  ///< its adjacency list
};

/// The size of a cache's entries, and the time that a hit saves. Only the ratio of the two times matters.
struct EntryCosts {
  std::int64_t row_bytes = 0;
  std::int64_t index_bytes = 8;  ///< per neighbour in a list, with its column of an alias table
  double row_saves_s = 0;        ///< per hit of a cached row
  double list_saves_s = 0;       ///< per hit of a cached list
};

/// The vertices whose rows and lists a cache holds, the most valuable first.
struct CacheContent {
  std::vector<graph::VertexId> rows;
  std::vector<graph::VertexId> lists;
};

/// Chooses what a cache of `bytes` holds by its policy. "random": a shuffle by `seed`; "out_degree": the
/// vertices of highest out-degree (PaGraph); "presample" and "optimal": the most visits (GNNLab, EuroSys
/// 2022, section 6); "value_weight": rows and lists together by seconds saved per byte, the greedy knapsack
/// of DUCATI (SIGMOD 2023, section 5). Other policies that hold both kinds hold the same share of both. Ties
/// go to the lower vertex. Policies based on visits never hold unvisited entries. Throws base::InputError for
/// a policy that chooses while it runs ("recent").
CacheContent choose_content(const graph::Graph& graph, const plan::Cache& cache, const Visits& visits,
                            const EntryCosts& costs, std::int64_t bytes, std::uint64_t seed);

/// The bytes of an adjacency list in a cache: its indices and a row pointer.
inline std::int64_t list_bytes(std::int64_t degree, std::int64_t index_bytes) {
  return degree * index_bytes + 8;
}

}  // namespace gnomon::runtime
