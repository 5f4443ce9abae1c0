#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// How often sampled mini-batches used each vertex.
struct Visits {
  std::vector<std::uint32_t> rows;   ///< its feature row
  std::vector<std::uint32_t> lists;  ///< its adjacency list
};

/// What a cache's entries take and save. Only their ratio matters of the seconds.
struct EntryCosts {
  std::int64_t row_bytes = 0;
  std::int64_t index_bytes = 8;  ///< of a neighbour in a list, its column of an alias table included
  double row_saves_s = 0;        ///< by one use of a cached row
  double list_saves_s = 0;       ///< by one use of a cached list
};

/// The vertices whose rows and lists a cache holds, the most wanted first.
struct CacheContent {
  std::vector<graph::VertexId> rows;
  std::vector<graph::VertexId> lists;
};

/// Fills `bytes` by the cache's policy. "random": a shuffle by `seed`; "out_degree": the vertices that stand
/// in most lists (PaGraph); "presample" and "optimal": by visits (GNNLab, EuroSys 2022, section 6);
/// "value_weight": rows and lists together by seconds saved a byte, the greedy knapsack of DUCATI (SIGMOD
/// 2023, section 5). Other policies that hold both kinds hold the same share of both. Of equal entries those
/// of lower vertices come first. Lists that are never used are not held by visits. Throws base::InputError
/// for a policy that chooses while it runs ("recent").
CacheContent choose_content(const graph::Graph& graph, const plan::Cache& cache, const Visits& visits,
                            const EntryCosts& costs, std::int64_t bytes, std::uint64_t seed);

/// What an adjacency list takes in a cache: its indices and a row pointer.
inline std::int64_t list_bytes(std::int64_t degree, std::int64_t index_bytes) {
  return degree * index_bytes + 8;
}

}  // namespace gnomon::runtime
