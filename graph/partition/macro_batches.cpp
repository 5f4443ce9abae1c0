#include "graph/partition/macro_batches.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"
#include "base/philox.h"
#include "base/shuffle.h"
#include "graph/visit_lists.h"

namespace gnomon::graph {
namespace {

using base::at;

/// Levels 0 to 2 of the purpose are those of epochs, caches and random parts.
constexpr std::uint32_t macro_level = 3;

/// The macro-batch of each part.
std::vector<std::int32_t> homes_of(const MacroBatches& macro_batches) {
  std::size_t parts = 0;
  for (const auto& members : macro_batches) {
    parts += members.size();
  }
  std::vector<std::int32_t> homes(parts);
  for (std::size_t number = 0; number < macro_batches.size(); ++number) {
    for (const std::int32_t part : macro_batches[number]) {
      homes[at(part)] = static_cast<std::int32_t>(number);
    }
  }
  return homes;
}

std::int64_t feature_bytes(const Features& features, VertexId vertex) {
  if (!features.is_sparse()) {
    return features.row_bytes();
  }
  const std::int64_t entries = features.indptr[at(vertex) + 1] - features.indptr[at(vertex)];
  return static_cast<std::int64_t>(sizeof(std::int64_t)) + entries * features.entry_bytes();
}

}  // namespace

MacroBatches macro_batches(int parts, int resident, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::int32_t> order(at(parts));
  std::iota(order.begin(), order.end(), 0);
  base::RandomStream random(
      {.seed = seed, .purpose = base::Purpose::shuffle, .epoch = epoch, .level = macro_level});
  base::shuffle(order, random);
  MacroBatches batches;
  for (std::size_t first = 0; first < order.size(); first += at(resident)) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    batches.emplace_back(begin, begin + std::min<std::ptrdiff_t>(resident, order.end() - begin));
  }
  return batches;
}

std::vector<WorkingSet> working_sets(const Graph& graph, const PartOf& part_of,
                                     const MacroBatches& macro_batches, std::span<const VertexId> hubs,
                                     const base::Progress& progress) {
  constexpr std::int32_t everywhere = -1;
  const auto homes = homes_of(macro_batches);
  std::vector<std::int32_t> resident_in(part_of.size());
  std::transform(part_of.begin(), part_of.end(), resident_in.begin(),
                 [&](std::int32_t part) { return homes[at(part)]; });
  for (const VertexId hub : hubs) {
    resident_in[at(hub)] = everywhere;
  }
  std::vector<WorkingSet> sets(macro_batches.size());
  for (std::size_t number = 0; number < sets.size(); ++number) {
    sets[number].parts = std::ssize(macro_batches[number]);
  }
  visit_lists(graph, {"measuring working sets"}, progress, [&](VertexId vertex, auto neighbours) {
    const std::int32_t home = homes[at(part_of[at(vertex)])];
    WorkingSet& set = sets[at(home)];
    ++set.vertices;
    set.edges += std::ssize(neighbours);
    set.bytes += static_cast<std::int64_t>(sizeof(std::int64_t) + neighbours.size_bytes()) +
                 feature_bytes(graph.features, vertex);
    for (const auto neighbour : neighbours) {
      const std::int32_t place = resident_in[static_cast<std::size_t>(neighbour)];
      set.edges_within += place == home || place == everywhere ? 1 : 0;
    }
  });
  for (const VertexId vertex : graph.train) {
    ++sets[at(homes[at(part_of[at(vertex)])])].train;
  }
  return sets;
}

}  // namespace gnomon::graph
