#include "runtime/macro/halo_structure.h"

#include <numeric>

#include "base/index.h"
#include "base/index_range.h"
#include "base/ranked_bits.h"
#include "kernels/cpu/member_ranks.h"
#include "kernels/cpu/prefetch.h"
#include "runtime/macro/reserve_more.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

// The lists of a part are scattered over the graph's: without prefetching, each takes a cache miss or two.
void prefetch_list(const graph::Graph& graph, VertexId vertex) {
  graph.neighbours(vertex).visit([](auto neighbours) {
    constexpr std::size_t line = 64 / sizeof(neighbours[0]);
    kernels::cpu::prefetch_far(neighbours.data());
    if (neighbours.size() > line) {
      kernels::cpu::prefetch_far(neighbours.data() + line);
    }
  });
}

/// Marks the vertices and their neighbours.
void add_with_neighbours(const graph::Graph& graph, std::span<const VertexId> vertices, base::Team& team,
                         base::RankedBits& ids) {
  team.step([&](int member) {
    constexpr std::size_t distance = 16;
    const auto [begin, end] = base::chunk_of(std::ssize(vertices), member, team.size());
    for (auto i = at(begin); i < at(end); ++i) {
      if (i + 2 * distance < at(end)) {
        kernels::cpu::prefetch_far(&graph.indptr[at(vertices[i + 2 * distance])]);
        prefetch_list(graph, vertices[i + distance]);
      }
      ids.add_shared(vertices[i]);
      graph.neighbours(vertices[i]).visit([&](auto neighbours) {
        for (const auto neighbour : neighbours) {
          ids.add_shared(static_cast<VertexId>(neighbour));
        }
      });
    }
  });
}

/// Fills what each local vertex has beside its list, and the row pointers.
void add_vertices(const graph::Graph& graph, const base::RankedBits& own, base::Team& team,
                  MacroArrays& arrays) {
  const auto count = arrays.vertices.size();
  arrays.indptr.resize(count + 1);
  arrays.is_halo.resize(count);
  arrays.whole_degrees.resize(count);
  team.step([&](int member) {
    const auto [begin, end] = base::chunk_of(std::ssize(arrays.vertices), member, team.size());
    for (auto local = at(begin); local < at(end); ++local) {
      const VertexId vertex = arrays.vertices[local];
      const bool is_own = own.contains(vertex);
      const std::int64_t degree = graph.degree(vertex);
      arrays.is_halo[local] = is_own ? 0 : 1;
      arrays.whole_degrees[local] = degree;
      arrays.indptr[local + 1] = is_own ? degree : 0;
    }
  });
  arrays.indptr[0] = 0;
  std::partial_sum(arrays.indptr.begin(), arrays.indptr.end(), arrays.indptr.begin());
}

/// Writes the local ids of a list's vertices, all of which are members, to `to`; with room for whole vectors
/// behind them if `has_room`.
void translate(const graph::Indices& list, const base::RankedBits& ids, bool has_room, std::uint32_t* to) {
  list.visit([&](auto stored) {
    if constexpr (sizeof(stored[0]) == sizeof(*to)) {
      if (has_room) {
        kernels::cpu::member_ranks(stored, ids, to);
        return;
      }
    }
    for (const auto neighbour : stored) {
      *to++ = static_cast<std::uint32_t>(ids.rank(static_cast<VertexId>(neighbour)));
    }
  });
}

void add_lists(const graph::Graph& graph, const base::RankedBits& ids, base::Team& team,
               MacroArrays& arrays) {
  reserve_more(arrays.indices, at(arrays.indptr.back()));
  team.step([&](int member) {
    const auto [begin, end] = base::chunk_of(std::ssize(arrays.vertices), member, team.size());
    // What is written behind a list must not reach the next member's lists.
    const std::int64_t own_end = arrays.indptr[at(end)];
    constexpr std::size_t distance = 64;  // of which several have lists
    for (auto local = at(begin); local < at(end); ++local) {
      if (local + distance < at(end) && arrays.is_halo[local + distance] == 0) {
        prefetch_list(graph, arrays.vertices[local + distance]);
      }
      if (arrays.is_halo[local] == 0) {
        const bool has_room =
            arrays.indptr[local + 1] + std::int64_t{kernels::cpu::member_ranks_slack} <= own_end;
        translate(graph.neighbours(arrays.vertices[local]), ids, has_room,
                  arrays.indices.data() + arrays.indptr[local]);
      }
    }
  });
}

}  // namespace

void fill_halo_structure(const graph::Graph& graph, std::span<const std::span<const VertexId>> own,
                         base::Team& team, MacroArrays& arrays) {
  base::RankedBits ids(graph.num_vertices());
  base::RankedBits is_own(graph.num_vertices());
  for (const auto vertices : own) {
    for (const VertexId vertex : vertices) {
      is_own.add(vertex);
    }
    add_with_neighbours(graph, vertices, team, ids);
  }
  ids.count();
  arrays.vertices = ids.members();
  add_vertices(graph, is_own, team, arrays);
  add_lists(graph, ids, team, arrays);
  team.park();
}

}  // namespace gnomon::runtime
