#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "kernels/device/rows.h"
#include "kernels/device/sampler.h"
#include "kernels/sampling_input.h"

// The bodies of the sampler's passes and the order in which they run; included where an executor is at hand.
// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

inline constexpr std::int64_t no_key = -1;
/// Values from here on name an edge of the hop under way, the first at which a new vertex appears; those
/// below are local ids.
inline constexpr std::uint32_t pending = 0x80000000U;
inline constexpr std::uint32_t no_value = 0xFFFFFFFFU;

constexpr std::uint64_t home_of(const IdTable& table, std::int64_t vertex) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(vertex) * 0x9E3779B97F4A7C15U;
  return (mixed ^ (mixed >> 32)) & table.mask;
}

/// The slot of a vertex, which is added when it is not there.
template <class Atomics>
constexpr std::uint32_t slot_of(const IdTable& table, std::int64_t vertex) {
  std::uint64_t slot = home_of(table, vertex);
  while (true) {
    std::int64_t seen = Atomics::load(table.keys + slot);
    if (seen == no_key) {
      seen = Atomics::compare_exchange(table.keys + slot, no_key, vertex);
    }
    if (seen == no_key || seen == vertex) {
      return static_cast<std::uint32_t>(slot);
    }
    slot = (slot + 1) & table.mask;
  }
}

struct ClearSlots {
  IdTable table;
  const std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const {
    table.keys[slots[i]] = no_key;
    table.values[slots[i]] = no_value;
  }
};

/// Puts the vertices of a batch into a table that holds none of them.
template <class Atomics>
struct EnterVertices {
  IdTable table;
  const std::int64_t* vertices;
  const std::int64_t* known;
  std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const {
    if (i < *known) {
      const std::uint32_t slot = slot_of<Atomics>(table, vertices[i]);
      Atomics::min(table.values + slot, static_cast<std::uint32_t>(i));
      slots[i] = slot;
    }
  }
};

template <class Atomics>
struct FindRepeatedSeed {
  IdTable table;
  const std::uint32_t* slots;
  std::int64_t* first_repeated;
  constexpr void operator()(std::int64_t i) const {
    if (table.values[slots[i]] != static_cast<std::uint32_t>(i)) {
      Atomics::min(first_repeated, i);
    }
  }
};

template <class T>
struct Copy {
  const T* from;
  T* to;
  const std::int64_t* count;
  constexpr void operator()(std::int64_t i) const {
    if (i < *count) {
      to[i] = from[i];
    }
  }
};

/// Finds each destination's list, which may lie behind the link: the passes to come read it from here. Counts
/// how many are drawn of it; 0 behind the last destination.
struct FindLists {
  Topology topology;
  const std::int64_t* vertices;
  const std::int64_t* known;
  int fanout;
  List* lists;
  std::int64_t* counts;
  constexpr void operator()(std::int64_t i) const {
    if (i < *known) {
      lists[i] = topology.neighbours(vertices[i]);
      counts[i] = topology.num_drawn(vertices[i], lists[i].degree, fanout);
    } else {
      counts[i] = 0;
    }
  }
};

/// The positions that each destination draws of its list. A list's draws are one index's work, as is finding
/// the edges of positive weight where all are taken.
struct DrawPositions {
  BatchKey key;
  std::uint32_t hop;
  Topology topology;
  const std::int64_t* vertices;
  const List* lists;
  const std::int64_t* known;
  int fanout;
  const std::int64_t* indptr;
  std::int64_t* positions;
  double* times;  ///< of draws by weight: room for one an edge
  std::int32_t* owners;
  constexpr void operator()(std::int64_t i) const {
    if (i >= *known) {
      return;
    }
    const std::int64_t begin = indptr[i];
    const std::int64_t count = indptr[i + 1] - begin;
    for (std::int64_t j = 0; j < count; ++j) {
      owners[begin + j] = static_cast<std::int32_t>(i);
    }
    if (takes_all(lists[i].degree, fanout)) {
      take(lists[i], count, positions + begin);
    } else if (topology.draws_by_weight()) {
      draw_by_weight(key, hop, vertices[i], topology.weighted_list(vertices[i], lists[i]),
                     static_cast<int>(count), positions + begin, times + begin);
    } else {
      draw_positions(key, hop, vertices[i], lists[i].degree, fanout, positions + begin);
    }
  }

 private:
  /// All, or all that have a weight.
  static constexpr void take(const List& list, std::int64_t count, std::int64_t* out) {
    std::int64_t taken = 0;
    for (std::int64_t position = 0; taken < count; ++position) {
      if (count == list.degree || list.columns[position].threshold > 0) {
        out[taken++] = position;
      }
    }
  }
};

/// Reads the neighbour of each edge and notes the first edge at which a new one appears. Without positions
/// all neighbours are taken.
template <class Atomics>
struct EnterNeighbours {
  IdTable table;
  const List* lists;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::int64_t* positions;
  const std::int32_t* owners;
  std::uint32_t* edge_slots;
  constexpr void operator()(std::int64_t edge) const {
    if (edge >= indptr[*known]) {
      return;
    }
    const std::int64_t owner = positions == nullptr ? row_of(indptr, *known, edge) : owners[edge];
    const std::int64_t position = positions == nullptr ? edge - indptr[owner] : positions[edge];
    const std::uint32_t slot = slot_of<Atomics>(table, lists[owner][position]);
    Atomics::min(table.values + slot, pending + static_cast<std::uint32_t>(edge));
    edge_slots[edge] = slot;
  }
};

/// 1 for the edges at which a new vertex appears first.
struct MarkNew {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* edge_slots;
  std::uint32_t* is_new;
  constexpr void operator()(std::int64_t edge) const {
    is_new[edge] =
        edge < indptr[*known] && table.values[edge_slots[edge]] == pending + static_cast<std::uint32_t>(edge)
            ? 1
            : 0;
  }
};

/// Names each edge's source, and writes the new ones down. The table stays as it is for the others.
struct NameSources {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* edge_slots;
  const std::uint32_t* ranks;
  std::int32_t* indices;
  std::int64_t* vertices;
  std::uint32_t* slots;
  constexpr void operator()(std::int64_t edge) const {
    if (edge >= indptr[*known]) {
      return;
    }
    const std::uint32_t slot = edge_slots[edge];
    const std::uint32_t value = table.values[slot];
    if (value < pending) {
      indices[edge] = static_cast<std::int32_t>(value);
      return;
    }
    const std::int64_t local = *known + ranks[value - pending];
    indices[edge] = static_cast<std::int32_t>(local);
    if (value == pending + static_cast<std::uint32_t>(edge)) {
      vertices[local] = table.keys[slot];
      slots[local] = slot;
    }
  }
};

/// Gives the new vertices their local ids in the table, and the hop its sizes.
struct SettleNew {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* num_new;
  const std::uint32_t* slots;
  std::int64_t* known_after;
  std::int64_t* edges;
  constexpr void operator()(std::int64_t i) const {
    if (i < *num_new) {
      table.values[slots[*known + i]] = static_cast<std::uint32_t>(*known + i);
    }
    if (i == 0) {
      *known_after = *known + *num_new;
      *edges = indptr[*known];
    }
  }
};

/// More edges than this are counted before room is made for them.
inline constexpr std::int64_t most_uncounted_edges = std::int64_t{1} << 24;

}  // namespace passes

template <class Executor>
Sampler<Executor>::Sampler(Executor& executor, const Topology& topology, std::vector<int> fanouts)
    : executor_(executor), topology_(topology), fanouts_(std::move(fanouts)) {
  check_fanouts(fanouts_);
  sizes_ = make_array<std::int64_t>(executor_, static_cast<std::int64_t>(2 * fanouts_.size() + 2));
}

template <class Executor>
MiniBatch Sampler<Executor>::sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds) {
  check_seeds(seeds, static_cast<std::size_t>(num_seeds), topology_.num_vertices);
  forget_last();
  MiniBatch batch;
  add_seeds(seeds, num_seeds, batch);
  std::int64_t most_vertices = num_seeds;
  for (std::int32_t hop = 0; hop < static_cast<std::int32_t>(fanouts_.size()); ++hop) {
    most_vertices = sample_hop(key, hop, most_vertices, batch);
  }
  read_sizes(seeds, batch);
  return batch;
}

template <class Executor>
template <class T>
void Sampler<Executor>::grow_keeping(Array<T>& array, std::int64_t count, std::int32_t hop) {
  if (array.count < count) {
    const Array<T> before = std::move(array);
    array = make_array<T>(executor_, count);
    executor_.for_each(before.count, passes::Copy<T>{before.data, array.data, sizes_.data + hop});
  }
}

/// Room for so many vertices when those before `hop`, of which there are at most `most_known`, are known.
template <class Executor>
void Sampler<Executor>::make_room_for(std::int64_t vertices, std::int32_t hop, std::int64_t most_known,
                                      MiniBatch& batch) {
  grow_keeping(batch.vertices, vertices, hop);
  grow_keeping(slots_, vertices, hop);
  std::int64_t slots = 1024;
  while (slots < 2 * vertices) {
    slots *= 2;
  }
  if (slots > keys_.count) {
    make_room(executor_, keys_, slots);
    make_room(executor_, values_, slots);
    table_ = {keys_.data, values_.data, static_cast<std::uint64_t>(slots) - 1};
    empty_table();
    enter(most_known, hop, batch);
  }
}

template <class Executor>
void Sampler<Executor>::empty_table() {
  executor_.fill(keys_.data, 0xFF, static_cast<std::size_t>(keys_.count) * sizeof(std::int64_t));
  executor_.fill(values_.data, 0xFF, static_cast<std::size_t>(values_.count) * sizeof(std::uint32_t));
}

/// Puts the vertices before `hop` into the table.
template <class Executor>
void Sampler<Executor>::enter(std::int64_t most_known, std::int32_t hop, const MiniBatch& batch) {
  executor_.for_each(most_known, passes::EnterVertices<Atomics>{table_, batch.vertices.data,
                                                                sizes_.data + hop, slots_.data});
}

template <class Executor>
void Sampler<Executor>::forget_last() {
  if (is_table_known_) {
    executor_.for_each(vertices_in_table_, passes::ClearSlots{table_, slots_.data});
  } else {
    empty_table();
  }
  is_table_known_ = false;  // until the new batch stands in it
}

template <class Executor>
void Sampler<Executor>::add_seeds(const std::int64_t* seeds, std::int64_t num_seeds, MiniBatch& batch) {
  executor_.fill(sizes_.data, 0, static_cast<std::size_t>(sizes_.count) * sizeof(std::int64_t));
  make_room_for(num_seeds, 0, 0, batch);
  executor_.upload(batch.vertices.data, seeds, static_cast<std::size_t>(num_seeds) * sizeof(std::int64_t));
  const std::int64_t first_sizes[2] = {num_seeds, num_seeds};
  executor_.upload(sizes_.data, first_sizes, sizeof(std::int64_t));
  executor_.upload(first_repeated(), first_sizes + 1, sizeof(std::int64_t));
  enter(num_seeds, 0, batch);
  executor_.for_each(num_seeds, passes::FindRepeatedSeed<Atomics>{table_, slots_.data, first_repeated()});
  batch.num_seeds = num_seeds;
}

/// No more edges than this are drawn in a hop; asks the device where the fanout does not tell closely.
template <class Executor>
std::int64_t Sampler<Executor>::most_edges(std::int64_t most_destinations, int fanout,
                                           const std::int64_t* indptr) {
  std::int64_t edges = most_destinations * fanout;
  if (fanout < 0 || edges > passes::most_uncounted_edges) {
    executor_.download(&edges, indptr + most_destinations, sizeof(edges));
  }
  if (edges >= std::int64_t{passes::pending}) {
    throw base::Failure("sampling on the device", std::to_string(edges) +
                                                      " edges in one hop are too many; use smaller batches "
                                                      "or fanouts");
  }
  return edges;
}

/// Returns a bound on the vertices after the hop from one on those before it.
template <class Executor>
std::int64_t Sampler<Executor>::sample_hop(const BatchKey& key, std::int32_t hop,
                                           std::int64_t most_destinations, MiniBatch& batch) {
  const int fanout = fanouts_[static_cast<std::size_t>(hop)];
  const std::int64_t* known = sizes_.data + hop;
  Block block;
  block.indptr = make_array<std::int64_t>(executor_, most_destinations + 1);
  make_room(executor_, lists_, most_destinations);
  executor_.for_each(most_destinations + 1, passes::FindLists{topology_, batch.vertices.data, known, fanout,
                                                              lists_.data, block.indptr.data});
  executor_.exclusive_sum(block.indptr.data, most_destinations + 1);
  const std::int64_t edges = most_edges(most_destinations, fanout, block.indptr.data);
  // A seed that comes twice, which is refused in the end, is counted twice until then.
  const std::int64_t most_vertices =
      std::min(most_destinations + edges, topology_.num_vertices + batch.num_seeds);
  make_room_for(most_vertices, hop, most_destinations, batch);
  const bool draws = fanout >= 0 || topology_.positives != nullptr;
  if (draws) {
    make_room(executor_, positions_, edges);
    make_room(executor_, owners_, edges);
    make_room(executor_, times_, topology_.draws_by_weight() ? edges : 0);
    executor_.for_each(most_destinations,
                       passes::DrawPositions{key, static_cast<std::uint32_t>(hop), topology_,
                                             batch.vertices.data, lists_.data, known, fanout,
                                             block.indptr.data, positions_.data, times_.data, owners_.data});
  }
  make_room(executor_, edge_slots_, edges);
  make_room(executor_, ranks_, edges + 1);
  executor_.for_each(edges,
                     passes::EnterNeighbours<Atomics>{table_, lists_.data, known, block.indptr.data,
                                                      draws ? positions_.data : nullptr,
                                                      draws ? owners_.data : nullptr, edge_slots_.data});
  number_sources(hop, edges, block, batch);
  batch.blocks.push_back(std::move(block));
  return most_vertices;
}

template <class Executor>
void Sampler<Executor>::number_sources(std::int32_t hop, std::int64_t edges, Block& block, MiniBatch& batch) {
  const std::int64_t* known = sizes_.data + hop;
  executor_.for_each(edges + 1,
                     passes::MarkNew{table_, known, block.indptr.data, edge_slots_.data, ranks_.data});
  executor_.exclusive_sum(ranks_.data, edges + 1);
  block.indices = make_array<std::int32_t>(executor_, edges);
  executor_.for_each(edges,
                     passes::NameSources{table_, known, block.indptr.data, edge_slots_.data, ranks_.data,
                                         block.indices.data, batch.vertices.data, slots_.data});
  const std::int64_t most_new = std::min(edges, topology_.num_vertices);
  executor_.for_each(std::max<std::int64_t>(most_new, 1),
                     passes::SettleNew{table_, known, block.indptr.data, ranks_.data + edges, slots_.data,
                                       sizes_.data + hop + 1, sizes_.data + fanouts_.size() + 1 + hop});
}

template <class Executor>
void Sampler<Executor>::read_sizes(const std::int64_t* seeds, MiniBatch& batch) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(sizes_.count));
  executor_.download(sizes.data(), sizes_.data, sizes.size() * sizeof(std::int64_t));
  const std::size_t hops = fanouts_.size();
  batch.num_vertices = sizes[hops];
  vertices_in_table_ = batch.num_vertices;
  is_table_known_ = true;
  for (std::size_t hop = 0; hop < hops; ++hop) {
    batch.blocks[hop].num_destinations = sizes[hop];
    batch.blocks[hop].num_sources = sizes[hop + 1];
    batch.blocks[hop].num_edges = sizes[hops + 1 + hop];
  }
  if (sizes.back() < batch.num_seeds) {
    const auto position = static_cast<std::size_t>(sizes.back());
    refuse_repeated_seed(position, seeds[position]);
  }
}

}  // namespace gnomon::kernels::device
