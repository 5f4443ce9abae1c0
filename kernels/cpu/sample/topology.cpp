#include "kernels/cpu/sample/topology.h"

#include <algorithm>

#include "base/error.h"
#include "base/process_memory.h"
#include "base/usable.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/alias_tables.h"

namespace gnomon::kernels::cpu {
namespace {

/// Of large arrays in files, pages that were copied are released before the next ones are read: the whole
/// array need not be in memory twice.
template <class To, class From>
std::span<const To> copy_into(HugeArray<To>& array, std::span<const From> from) {
  constexpr std::size_t block = std::size_t{1} << 25;
  array.reserve(from.size(), 0);
  for (std::size_t begin = 0; begin < from.size(); begin += block) {
    const auto part = from.subspan(begin, std::min(block, from.size() - begin));
    std::transform(part.begin(), part.end(), array.data() + begin,
                   [](From value) { return static_cast<To>(value); });
    if (part.size() == block) {
      base::release_file_pages(std::as_bytes(part));
    }
  }
  return {array.data(), from.size()};
}

std::span<const float> weights_for(const graph::Graph& graph, Draws draws) {
  if (draws == Draws::uniform) {
    return {};
  }
  if (graph.num_edges() > 0 && graph.edge_weights.empty()) {
    throw base::InputError("weighted", "the graph has no edge weights; import it with --edge-weights");
  }
  return graph.edge_weights;
}

/// Builds the alias tables of the topology's weights in `tables`, which the caller must keep alive.
void add_tables(Topology& topology, AliasTables& tables) {
  tables = make_alias_tables(topology.indptr, topology.weights, base::usable_cores());
  topology.columns = {tables.columns.data(), topology.weights.size()};
  if (tables.positives.capacity() > 0) {
    topology.positives = {tables.positives.data(), static_cast<std::size_t>(topology.num_vertices())};
  }
}

}  // namespace

Topology view_of(const graph::Graph& graph, Draws draws) {
  Topology topology{graph.indptr,
                    graph.indices.wide(),
                    graph.indices.narrow(),
                    weights_for(graph, draws),
                    {},
                    {},
                    graph.max_degree(),
                    graph.storage,
                    {}};
  if (!topology.weights.empty()) {
    struct Storage {
      std::shared_ptr<const void> graph;
      AliasTables tables;
    };
    auto storage = std::make_shared<Storage>(graph.storage, AliasTables());
    add_tables(topology, storage->tables);
    topology.storage = std::move(storage);
  }
  return topology;
}

Topology resident_copy(const graph::Graph& graph, Draws draws) {
  struct Storage {
    HugeArray<std::int64_t> indptr;
    HugeArray<std::uint32_t> narrow;
    HugeArray<graph::VertexId> wide;
    HugeArray<float> weights;
    AliasTables tables;
  };
  auto storage = std::make_shared<Storage>();
  Topology topology;
  topology.indptr = copy_into(storage->indptr, graph.indptr);
  topology.max_degree = graph.max_degree();
  graph.indices.visit([&](auto ids) {
    if (graph.num_vertices() <= graph::max_narrow_vertices) {
      topology.narrow_indices = copy_into(storage->narrow, ids);
    } else {
      topology.indices = copy_into(storage->wide, ids);
    }
  });
  base::release_file_pages(graph.indices.bytes());
  if (const auto weights = weights_for(graph, draws); !weights.empty()) {
    topology.weights = copy_into(storage->weights, weights);
    add_tables(topology, storage->tables);
  }
  topology.storage = std::move(storage);
  return topology;
}

Topology with_lists_elsewhere(const graph::Graph& graph,
                              std::function<std::unique_ptr<NeighbourReader>()> open_lists) {
  auto storage = std::make_shared<HugeArray<std::int64_t>>();
  Topology topology;
  topology.indptr = copy_into(*storage, graph.indptr);
  base::release_file_pages(std::as_bytes(graph.indptr));
  for (graph::VertexId vertex = 0; vertex < topology.num_vertices(); ++vertex) {
    topology.max_degree = std::max(topology.max_degree, topology.degree(vertex));
  }
  topology.storage = std::move(storage);
  topology.open_lists = std::move(open_lists);
  return topology;
}

std::int64_t resident_bytes(std::int64_t vertices, std::int64_t edges, Draws draws) {
  const std::int64_t structure =
      (vertices + 1) * std::int64_t{sizeof(std::int64_t)} + edges * index_bytes(vertices);
  return draws == Draws::uniform
             ? structure
             : structure + edges * std::int64_t{sizeof(float)} + alias_table_bytes(vertices, edges);
}

std::int64_t resident_bytes(const graph::Graph& graph, Draws draws) {
  const bool has_tables = !weights_for(graph, draws).empty();
  return resident_bytes(graph.num_vertices(), graph.num_edges(), has_tables ? draws : Draws::uniform);
}

Topology resident_copy_if_fits(const graph::Graph& graph, Draws draws) {
  return resident_bytes(graph, draws) <= base::available_memory_bytes() / 2 ? resident_copy(graph, draws)
                                                                            : view_of(graph, draws);
}

}  // namespace gnomon::kernels::cpu
