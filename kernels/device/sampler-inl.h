#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "kernels/device/rows.h"
#include "kernels/device/sampler.h"
#include "kernels/sampling_input.h"

// The bodies of the sampler's passes and their order; included where the sampler is instantiated for an
// executor. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

inline constexpr std::int64_t no_key = -1;
/// Values from `pending` on denote an edge of the current hop: the first at which a new vertex appears.
/// Smaller values are local ids.
inline constexpr std::uint32_t pending = 0x80000000U;
inline constexpr std::uint32_t no_value = 0xFFFFFFFFU;

constexpr std::uint64_t home_of(const IdTable& table, std::int64_t vertex) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(vertex) * 0x9E3779B97F4A7C15U;
  return (mixed ^ (mixed >> 32)) & table.mask;
}

/// Returns the slot of a vertex; inserts the vertex if it is not in the table.
template <class Atomics>
constexpr std::uint32_t slot_of(const IdTable& table, std::int64_t vertex) {
  std::uint64_t slot = home_of(table, vertex);
  while (true) {
    std::int64_t* key = &table.slots[slot].key;
    std::int64_t seen = Atomics::load(key);
    if (seen == no_key) {
      seen = Atomics::compare_exchange(key, no_key, vertex);
    }
    if (seen == no_key || seen == vertex) {
      return static_cast<std::uint32_t>(slot);
    }
    slot = (slot + 1) & table.mask;
  }
}

/// Lowers a slot's value. Most values are low enough, and a load is cheaper than an atomic operation.
template <class Atomics>
constexpr void lower_value(const IdTable& table, std::uint32_t slot, std::uint32_t value) {
  std::uint32_t* at = &table.slots[slot].value;
  if (Atomics::load(at) > value) {
    Atomics::min(at, value);
  }
}

struct ClearSlots {
  IdTable table;
  const std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const { table.slots[slots[i]] = {no_key, no_value, no_value}; }
};

/// Inserts the vertices of a batch into a table that contains none of them.
template <class Atomics>
struct InsertVertices {
  IdTable table;
  const std::int64_t* vertices;
  const std::int64_t* known;
  std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const {
    if (i < *known) {
      const std::uint32_t slot = slot_of<Atomics>(table, vertices[i]);
      lower_value<Atomics>(table, slot, static_cast<std::uint32_t>(i));
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
    if (table.slots[slots[i]].value != static_cast<std::uint32_t>(i)) {
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

/// Copies each destination's list header, which may be in host memory, to device memory for the following
/// passes. Counts the neighbours to draw; 0 beyond the last destination.
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

/// Draws each destination's positions in its list. One index does all draws of a list, and also the scan for
/// edges of positive weight if all are taken. Weighted draws from long lists that attempts do not complete
/// are left to the next passes.
template <class Atomics>
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
  double* keys;  ///< scratch space of weighted draws, one per edge
  std::int32_t* owners;
  LongDraws long_draws;
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
      draw_weighted(i, begin, static_cast<int>(count));
    } else {
      draw_positions(key, hop, vertices[i], lists[i].degree, fanout, positions + begin);
    }
  }

 private:
  constexpr void draw_weighted(std::int64_t i, std::int64_t begin, int count) const {
    const WeightedList list = topology.weighted_list(vertices[i], lists[i]);
    const int attempts = max_attempts(count, list.degree);
    const int drawn =
        attempt_draws(attempt_stream(key, hop, vertices[i]), list, 0, attempts, 0, count, positions + begin);
    if (drawn < count && !leaves(i, list.degree, drawn)) {
      WeightedReservoir(positions + begin, keys + begin, drawn, count - drawn).run(key, hop, list);
    }
  }
  /// Whether the rest of a list's draw is left to the next passes.
  constexpr bool leaves(std::int64_t i, std::int64_t degree, std::int64_t drawn) const {
    const bool is_shared = long_draws.lanes > 0 && degree >= LongDraws::min_degree;
    for (std::int64_t place = 0; is_shared && place < LongDraws::max_lists; ++place) {
      if (Atomics::compare_exchange(long_draws.destinations + place, std::int64_t{-1}, i) == -1) {
        long_draws.drawn[place] = drawn;
        return true;
      }
    }
    return false;
  }
  /// Takes all neighbours, or all of positive weight.
  static constexpr void take(const List& list, std::int64_t count, std::int64_t* out) {
    std::int64_t taken = 0;
    for (std::int64_t position = 0; taken < count; ++position) {
      if (count == list.degree || list.columns[position].threshold > 0) {
        out[taken++] = position;
      }
    }
  }
};

/// Index i is lane i % lanes of the list at place i / lanes: samples every lanes-th position.
struct SampleLanes {
  BatchKey key;
  std::uint32_t hop;
  Topology topology;
  const std::int64_t* vertices;
  const List* lists;
  const std::int64_t* indptr;
  const std::int64_t* positions;
  LongDraws draws;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t place = i / draws.lanes;
    const std::int64_t destination = draws.destinations[place];
    if (destination < 0) {
      return;
    }
    const std::int64_t begin = indptr[destination];
    const auto drawn = static_cast<int>(draws.drawn[place]);
    const int missing = static_cast<int>(indptr[destination + 1] - begin) - drawn;
    WeightedReservoir reservoir(positions + begin, drawn, draws.positions + i * draws.capacity,
                                draws.keys + i * draws.capacity, missing);
    reservoir.run(key, hop, topology.weighted_list(vertices[destination], lists[destination]),
                  i % draws.lanes, draws.lanes);
    draws.sizes[i] = reservoir.size();
  }
};

/// Index i merges the samples of the list at place i: the smallest keys, and of equal ones the lower
/// positions.
struct MergeLanes {
  const std::int64_t* indptr;
  LongDraws draws;
  std::int64_t* positions;
  double* keys;
  constexpr void operator()(std::int64_t place) const {
    const std::int64_t destination = draws.destinations[place];
    if (destination < 0) {
      return;
    }
    const std::int64_t begin = indptr[destination] + draws.drawn[place];
    Merged merged{positions + begin, keys + begin, indptr[destination + 1] - begin, 0};
    for (std::int64_t lane = place * draws.lanes; lane < (place + 1) * draws.lanes; ++lane) {
      for (std::int64_t i = 0; i < draws.sizes[lane]; ++i) {
        const std::int64_t at = lane * draws.capacity + i;
        if (!merged.insert(draws.keys[at], draws.positions[at])) {
          break;  // nor would the lane's larger keys
        }
      }
    }
  }

 private:
  struct Merged {
    std::int64_t* positions;
    double* keys;
    std::int64_t capacity;
    std::int64_t size;

    constexpr bool is_before(double key, std::int64_t position, std::int64_t i) const {
      return key < keys[i] || (key == keys[i] && position < positions[i]);
    }
    constexpr bool insert(double key, std::int64_t position) {
      if (size == capacity && !is_before(key, position, size - 1)) {
        return false;
      }
      size += size < capacity ? 1 : 0;
      std::int64_t i = size - 1;
      for (; i > 0 && is_before(key, position, i - 1); --i) {
        keys[i] = keys[i - 1];
        positions[i] = positions[i - 1];
      }
      keys[i] = key;
      positions[i] = position;
      return true;
    }
  };
};

/// Reads each edge's neighbour, inserts it into the table, and records the first edge at which a new vertex
/// appears. If `positions` is null, all neighbours are taken.
template <class Atomics>
struct InsertNeighbours {
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
    lower_value<Atomics>(table, slot, pending + static_cast<std::uint32_t>(edge));
    edge_slots[edge] = slot;
  }
};

/// Marks with 1 the edges at which a new vertex appears first.
struct MarkNew {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* edge_slots;
  std::uint32_t* is_new;
  constexpr void operator()(std::int64_t edge) const {
    const bool is_first = edge < indptr[*known] &&
                          table.slots[edge_slots[edge]].value == pending + static_cast<std::uint32_t>(edge);
    is_new[edge] = is_first ? 1 : 0;
  }
};

/// Writes the local id of each edge's source, and appends the new vertices to the batch. The table is not
/// modified, because other indices read it.
struct AssignLocalIds {
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
    const std::uint32_t value = table.slots[slot].value;
    if (value < pending) {
      indices[edge] = static_cast<std::int32_t>(value);
      return;
    }
    const std::int64_t local = *known + ranks[value - pending];
    indices[edge] = static_cast<std::int32_t>(local);
    if (value == pending + static_cast<std::uint32_t>(edge)) {
      vertices[local] = table.slots[slot].key;
      slots[local] = slot;
    }
  }
};

/// Writes the new vertices' local ids to the table, and the hop's sizes.
struct StoreLocalIds {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* num_new;
  const std::uint32_t* slots;
  std::int64_t* known_after;
  std::int64_t* edges;
  constexpr void operator()(std::int64_t i) const {
    if (i < *num_new) {
      table.slots[slots[*known + i]].value = static_cast<std::uint32_t>(*known + i);
    }
    if (i == 0) {
      *known_after = *known + *num_new;
      *edges = indptr[*known];
    }
  }
};

/// If a hop may have more edges than this, they are counted before memory is allocated for them.
inline constexpr std::int64_t max_uncounted_edges = std::int64_t{1} << 24;

}  // namespace passes

template <class Executor>
Sampler<Executor>::Sampler(Executor& executor, const Topology& topology, std::vector<int> fanouts,
                           std::uint32_t first_hop)
    : executor_(executor), topology_(topology), fanouts_(std::move(fanouts)), first_hop_(first_hop) {
  check_fanouts(fanouts_);
  sizes_ = make_array<std::int64_t>(executor_, static_cast<std::int64_t>(2 * fanouts_.size() + 2));
}

template <class Executor>
MiniBatch Sampler<Executor>::sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds) {
  check_seeds(seeds, static_cast<std::size_t>(num_seeds), topology_.num_vertices);
  clear_last_batch();
  MiniBatch batch;
  add_seeds(seeds, num_seeds, batch);
  std::int64_t max_vertices = num_seeds;  // an upper bound, as the host does not know the actual number
  for (std::int32_t hop = 0; hop < static_cast<std::int32_t>(fanouts_.size()); ++hop) {
    max_vertices = sample_hop(key, hop, max_vertices, batch);
  }
  read_sizes(seeds, batch);
  return batch;
}

template <class Executor>
template <class T>
void Sampler<Executor>::grow_preserving(Array<T>& array, std::int64_t count, std::int32_t hop) {
  if (array.count < count) {
    const Array<T> before = std::move(array);
    array = make_array<T>(executor_, count);
    executor_.for_each(before.count, passes::Copy<T>{before.data, array.data, sizes_.data + hop});
  }
}

/// Ensures capacity for `vertices` vertices; preserves those before `hop`, of which there are at most
/// `max_known`.
template <class Executor>
void Sampler<Executor>::reserve_vertices(std::int64_t vertices, std::int32_t hop, std::int64_t max_known) {
  grow_preserving(vertices_, vertices, hop);
  grow_preserving(slots_, vertices, hop);
  std::int64_t slots = 1024;
  while (slots < 2 * vertices) {
    slots *= 2;
  }
  if (slots > table_slots_.count) {
    ensure_capacity(executor_, table_slots_, slots);
    table_ = {table_slots_.data, static_cast<std::uint64_t>(slots) - 1};
    empty_table();
    insert_vertices(max_known, hop);
  }
}

template <class Executor>
void Sampler<Executor>::empty_table() {
  executor_.fill(table_slots_.data, 0xFF, static_cast<std::size_t>(table_slots_.count) * sizeof(IdSlot));
}

/// Inserts the vertices before `hop` into the table.
template <class Executor>
void Sampler<Executor>::insert_vertices(std::int64_t max_known, std::int32_t hop) {
  executor_.for_each(max_known,
                     passes::InsertVertices<Atomics>{table_, vertices_.data, sizes_.data + hop, slots_.data});
}

template <class Executor>
void Sampler<Executor>::clear_last_batch() {
  if (is_table_known_) {
    executor_.for_each(vertices_in_table_, passes::ClearSlots{table_, slots_.data});
  } else {
    empty_table();
  }
  is_table_known_ = false;  // until the table holds the new batch, in case sampling throws
}

template <class Executor>
void Sampler<Executor>::add_seeds(const std::int64_t* seeds, std::int64_t num_seeds, MiniBatch& batch) {
  reserve_vertices(num_seeds, 0, 0);
  executor_.upload(vertices_.data, seeds, static_cast<std::size_t>(num_seeds) * sizeof(std::int64_t));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(sizes_.count));
  sizes.front() = sizes.back() = num_seeds;
  executor_.upload(sizes_.data, sizes.data(), sizes.size() * sizeof(std::int64_t));
  insert_vertices(num_seeds, 0);
  executor_.for_each(num_seeds, passes::FindRepeatedSeed<Atomics>{table_, slots_.data, first_repeated()});
  batch.num_seeds = num_seeds;
}

/// Returns an upper bound of the edges of a hop; reads their number from the device if the fanout gives no
/// tight bound.
template <class Executor>
std::int64_t Sampler<Executor>::max_edges(std::int64_t max_destinations, int fanout,
                                          const std::int64_t* indptr) {
  std::int64_t edges = max_destinations * fanout;
  if (fanout < 0 || edges > passes::max_uncounted_edges) {
    executor_.download(&edges, indptr + max_destinations, sizeof(edges));
  }
  if (edges >= std::int64_t{passes::pending}) {
    throw base::Failure("sampling on the device",
                        "a hop has " + std::to_string(edges) +
                            " edges, at most 2^31 - 1 are supported; use a smaller batch size or fanouts");
  }
  return edges;
}

/// Samples a hop. Returns an upper bound of the vertices after it, given one of the vertices before it.
template <class Executor>
std::int64_t Sampler<Executor>::sample_hop(const BatchKey& key, std::int32_t hop,
                                           std::int64_t max_destinations, MiniBatch& batch) {
  const int fanout = fanouts_[static_cast<std::size_t>(hop)];
  const std::int64_t* known = sizes_.data + hop;
  Block block;
  block.indptr = make_array<std::int64_t>(executor_, max_destinations + 1);
  ensure_capacity(executor_, lists_, max_destinations);
  executor_.for_each(max_destinations + 1, passes::FindLists{topology_, vertices_.data, known, fanout,
                                                             lists_.data, block.indptr.data});
  executor_.exclusive_sum(block.indptr.data, max_destinations + 1);
  const std::int64_t edges = max_edges(max_destinations, fanout, block.indptr.data);
  // A repeated seed, which is rejected only in read_sizes(), counts twice until then.
  const std::int64_t max_vertices =
      std::min(max_destinations + edges, topology_.num_vertices + batch.num_seeds);
  reserve_vertices(max_vertices, hop, max_destinations);
  const bool draws = fanout >= 0 || topology_.positives != nullptr;
  if (draws) {
    ensure_capacity(executor_, positions_, edges);
    ensure_capacity(executor_, owners_, edges);
    ensure_capacity(executor_, keys_of_draws_, topology_.draws_by_weight() ? edges : 0);
    const std::uint32_t number = first_hop_ + static_cast<std::uint32_t>(hop);
    const bool is_shared =
        topology_.draws_by_weight() && fanout > 0 && topology_.max_degree >= LongDraws::min_degree;
    const LongDraws draws_of_lanes = is_shared ? long_draws(fanout) : LongDraws();
    executor_.for_each(max_destinations,
                       passes::DrawPositions<Atomics>{key, number, topology_, vertices_.data, lists_.data,
                                                      known, fanout, block.indptr.data, positions_.data,
                                                      keys_of_draws_.data, owners_.data, draws_of_lanes});
    if (is_shared) {
      finish_long_draws(key, number, block.indptr.data, draws_of_lanes);
    }
  }
  ensure_capacity(executor_, edge_slots_, edges);
  ensure_capacity(executor_, ranks_, edges + 1);
  executor_.for_each(edges,
                     passes::InsertNeighbours<Atomics>{table_, lists_.data, known, block.indptr.data,
                                                       draws ? positions_.data : nullptr,
                                                       draws ? owners_.data : nullptr, edge_slots_.data});
  assign_local_ids(hop, edges, block);
  batch.blocks.push_back(std::move(block));
  return max_vertices;
}

/// Room for draws of a fanout, with all places free.
template <class Executor>
LongDraws Sampler<Executor>::long_draws(int fanout) {
  LongDraws draws;
  draws.lanes = std::clamp<std::int64_t>(16384 / fanout, 32, 256);
  draws.capacity = fanout;
  const std::int64_t lanes = LongDraws::max_lists * draws.lanes;
  ensure_capacity(executor_, long_draws_, 2 * LongDraws::max_lists + lanes + lanes * draws.capacity);
  ensure_capacity(executor_, keys_of_lanes_, lanes * draws.capacity);
  draws.destinations = long_draws_.data;
  draws.drawn = draws.destinations + LongDraws::max_lists;
  draws.sizes = draws.drawn + LongDraws::max_lists;
  draws.positions = draws.sizes + lanes;
  draws.keys = keys_of_lanes_.data;
  executor_.fill(draws.destinations, 0xFF, LongDraws::max_lists * sizeof(std::int64_t));
  return draws;
}

template <class Executor>
void Sampler<Executor>::finish_long_draws(const BatchKey& key, std::uint32_t hop, const std::int64_t* indptr,
                                          const LongDraws& draws) {
  executor_.for_each(
      LongDraws::max_lists * draws.lanes,
      passes::SampleLanes{key, hop, topology_, vertices_.data, lists_.data, indptr, positions_.data, draws});
  executor_.for_each(LongDraws::max_lists,
                     passes::MergeLanes{indptr, draws, positions_.data, keys_of_draws_.data});
}

template <class Executor>
void Sampler<Executor>::assign_local_ids(std::int32_t hop, std::int64_t edges, Block& block) {
  const std::int64_t* known = sizes_.data + hop;
  executor_.for_each(edges + 1,
                     passes::MarkNew{table_, known, block.indptr.data, edge_slots_.data, ranks_.data});
  executor_.exclusive_sum(ranks_.data, edges + 1);
  block.indices = make_array<std::int32_t>(executor_, edges);
  executor_.for_each(edges,
                     passes::AssignLocalIds{table_, known, block.indptr.data, edge_slots_.data, ranks_.data,
                                            block.indices.data, vertices_.data, slots_.data});
  const std::int64_t max_new = std::min(edges, topology_.num_vertices);
  executor_.for_each(std::max<std::int64_t>(max_new, 1),
                     passes::StoreLocalIds{table_, known, block.indptr.data, ranks_.data + edges, slots_.data,
                                           sizes_.data + hop + 1, sizes_.data + fanouts_.size() + 1 + hop});
}

template <class Executor>
void Sampler<Executor>::read_sizes(const std::int64_t* seeds, MiniBatch& batch) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(sizes_.count));
  executor_.download(sizes.data(), sizes_.data, sizes.size() * sizeof(std::int64_t));
  const std::size_t hops = fanouts_.size();
  batch.num_vertices = sizes[hops];
  batch.vertices = make_array<std::int64_t>(executor_, batch.num_vertices);
  executor_.for_each(batch.num_vertices,
                     passes::Copy<std::int64_t>{vertices_.data, batch.vertices.data, sizes_.data + hops});
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
