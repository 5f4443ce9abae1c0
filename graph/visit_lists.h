#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/index.h"
#include "base/process_memory.h"
#include "base/progress.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// One of several passes over all adjacency lists, for progress messages.
struct Reading {
  std::string_view what;
  std::int64_t number = 0;
  std::int64_t count = 1;
};

/// Calls visit(vertex, neighbours) for all vertices in ascending order, so that lists on the disk are read in
/// sequence; `neighbours` is a span of ids as they are stored. Pages of mapped lists are released afterwards.
/// An exception of `progress` cancels it.
template <class Visit>
void visit_lists(const Graph& graph, const Reading& reading, const base::Progress& progress, Visit visit) {
  using base::at;
  constexpr VertexId vertices_per_block = 1 << 16;
  const VertexId vertices = graph.num_vertices();
  graph.indices.visit([&](auto ids) {
    for (VertexId first = 0; first < vertices; first += vertices_per_block) {
      base::report(progress, reading.what, reading.number * vertices + first, reading.count * vertices);
      const VertexId end = std::min(vertices, first + vertices_per_block);
      for (VertexId vertex = first; vertex < end; ++vertex) {
        visit(vertex, ids.subspan(at(graph.indptr[at(vertex)]), at(graph.degree(vertex))));
      }
      const auto begin_edge = at(graph.indptr[at(first)]);
      base::release_file_pages(
          std::as_bytes(ids.subspan(begin_edge, at(graph.indptr[at(end)]) - begin_edge)));
    }
  });
}

}  // namespace gnomon::graph
