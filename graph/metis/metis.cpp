#include "graph/metis/metis.h"

#include <metis.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "graph/undirected.h"

namespace gnomon::graph {
namespace {

using base::at;

/// A graph in METIS's types.
struct Lists {
  std::vector<idx_t> begins;
  std::vector<idx_t> neighbours;
};

void check_countable(std::int64_t edges) {
  constexpr std::int64_t max_edges = std::numeric_limits<idx_t>::max();
  if (edges > max_edges) {
    throw base::InputError("method", "\"metis\" counts at most " + std::to_string(max_edges) +
                                         " edges in both directions, and the graph has " +
                                         std::to_string(edges) + "; use \"gnn_aware\"");
  }
}

Lists undirected_lists(const Graph& graph, const base::Progress& progress) {
  static_assert(sizeof(idx_t) == sizeof(std::uint32_t));
  Lists lists;
  const auto begins = build_undirected(
      graph,
      [&](std::int64_t count) {
        lists.neighbours.resize(at(count));
        return EdgeBuffers{nullptr, nullptr, reinterpret_cast<std::uint32_t*>(lists.neighbours.data())};
      },
      progress);
  check_countable(begins.back());
  lists.begins.assign(begins.begin(), begins.end());
  return lists;
}

}  // namespace

PartOf partition_by_metis(const Graph& graph, const PartitionRequest& request,
                          const base::Progress& progress) {
  check_countable(std::max(graph.num_edges(), graph.num_vertices()));
  PartOf parts(at(graph.num_vertices()), 0);
  if (request.parts == 1) {
    return parts;  // METIS divides by parts - 1.
  }
  Lists lists = undirected_lists(graph, progress);
  base::report(progress, "partitioning", 0, 0);
  auto vertices = static_cast<idx_t>(graph.num_vertices());
  idx_t constraints = 1;
  idx_t count = request.parts;
  idx_t cut = 0;
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = static_cast<idx_t>(request.seed & 0x7FFFFFFF);
  const int status =
      METIS_PartGraphKway(&vertices, &constraints, lists.begins.data(), lists.neighbours.data(), nullptr,
                          nullptr, nullptr, &count, nullptr, nullptr, options.data(), &cut, parts.data());
  if (status != METIS_OK) {
    throw base::Failure("METIS", status == METIS_ERROR_MEMORY
                                     ? "not enough memory; use method \"gnn_aware\""
                                     : "failed with status " + std::to_string(status));
  }
  base::report(progress, "partitioning", 1, 1);
  return parts;
}

}  // namespace gnomon::graph
