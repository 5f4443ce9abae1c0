#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "kernels/device/sampled_lists-inl.h"
#include "kernels/device/sampled_vertices-inl.h"
#include "kernels/device/sampler.h"
#include "kernels/sampling_input.h"

// The order of the sampler's passes; included where the sampler is instantiated for an executor. Also
// compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// If a hop may have more edges than this, they are counted before memory is allocated for them.
inline constexpr std::int64_t max_uncounted_edges = std::int64_t{1} << 24;
/// From so many destinations on their lists are found by a launch of their own (CountDraws).
inline constexpr std::int64_t many_destinations = std::int64_t{1} << 13;

}  // namespace passes

template <class Executor>
Sampler<Executor>::Sampler(Executor& executor, const Topology& topology, std::vector<int> fanouts,
                           std::uint32_t first_hop)
    : executor_(executor), topology_(topology), fanouts_(std::move(fanouts)), first_hop_(first_hop) {
  check_fanouts(fanouts_);
  sizes_ = make_array<std::int64_t>(executor_, static_cast<std::int64_t>(2 * fanouts_.size() + 2));
  edge_slots_.resize(fanouts_.size());
}

template <class Executor>
MiniBatch Sampler<Executor>::sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds,
                                    const std::int32_t* labels) {
  start(key, seeds, num_seeds, labels);
  return finish();
}

template <class Executor>
void Sampler<Executor>::start(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds,
                              const std::int32_t* labels) {
  check_seeds(seeds, static_cast<std::size_t>(num_seeds), topology_.num_vertices);
  clear_last_batch();
  started_ = {seeds, labels, {}};
  auto& batch = started_.batch;
  add_seeds(seeds, num_seeds, batch);
  std::int64_t max_vertices = num_seeds;  // an upper bound, as the host does not know the actual number
  for (std::int32_t hop = 0; hop < static_cast<std::int32_t>(fanouts_.size()); ++hop) {
    max_vertices = sample_hop(key, hop, max_vertices, batch);
  }
  executor_.start_download(sizes_.data, size_bytes());
  if (!room_.edges.empty()) {
    write_batch(batch);
  }
}

template <class Executor>
MiniBatch Sampler<Executor>::finish() {
  auto batch = std::exchange(started_.batch, {});
  read_sizes(batch);
  if (!fits(batch)) {
    make_room(batch);
    write_batch(batch);
  }
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
    for (std::int32_t earlier = 0; earlier < hop; ++earlier) {
      const auto& edges = edge_slots_[static_cast<std::size_t>(earlier)];
      executor_.for_each(edges.count, passes::SlotsToLocalIds{table_, num_edges(earlier), edges.data});
    }
    ensure_capacity(executor_, table_slots_, slots);
    table_ = {table_slots_.data, static_cast<std::uint64_t>(slots) - 1};
    empty_table();
    insert_vertices(max_known, hop);
    for (std::int32_t earlier = 0; earlier < hop; ++earlier) {
      const auto& edges = edge_slots_[static_cast<std::size_t>(earlier)];
      executor_.for_each(edges.count, passes::LocalIdsToSlots{slots_.data, num_edges(earlier), edges.data});
    }
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
  executor_.for_each(std::max<std::int64_t>(num_seeds, 1),
                     passes::InsertSeeds<Atomics>{table_, vertices_.data, num_seeds, slots_.data, sizes_.data,
                                                  first_repeated()});
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
  const passes::FindLists<Atomics> find{
      topology_,   vertices_.data, known,       fanout,
      lists_.data, table_,         slots_.data, hop == 0 ? first_repeated() : nullptr};
  if (max_destinations < passes::many_destinations) {
    executor_.scan(max_destinations + 1, find, passes::WriteSum{block.indptr.data});
  } else {
    executor_.for_each(max_destinations + 1, passes::CountDraws<Atomics>{find, block.indptr.data});
    executor_.exclusive_sum(block.indptr.data, max_destinations + 1);
  }
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
  auto& edge_slots = edge_slots_[static_cast<std::size_t>(hop)];
  ensure_capacity(executor_, edge_slots, edges);
  executor_.for_each(edges,
                     passes::InsertNeighbours<Atomics>{table_, lists_.data, known, block.indptr.data,
                                                       draws ? positions_.data : nullptr,
                                                       draws ? owners_.data : nullptr, edge_slots.data});
  assign_local_ids(hop, edges, block);
  batch.blocks.push_back(std::move(block));
  return max_vertices;
}

/// Allocates the scratch space for long draws with this fanout; all places are free.
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
void Sampler<Executor>::assign_local_ids(std::int32_t hop, std::int64_t edges, const Block& block) {
  const std::int64_t* known = sizes_.data + hop;
  const std::uint32_t* edge_slots = edge_slots_[static_cast<std::size_t>(hop)].data;
  executor_.scan(
      edges + 1, passes::CountNew<Atomics>{table_, known, block.indptr.data, edge_slots},
      passes::AppendNew<Atomics>{table_, known, block.indptr.data, edge_slots, edges, vertices_.data,
                                 slots_.data, sizes_.data + hop + 1, num_edges(hop)});
}

template <class Executor>
void Sampler<Executor>::read_sizes(MiniBatch& batch) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(sizes_.count));
  executor_.finish_download(sizes.data(), size_bytes());
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
    refuse_repeated_seed(position, started_.seeds[position]);
  }
}

/// Whether the capacity sufficed for a batch, whose sizes are known by now.
template <class Executor>
bool Sampler<Executor>::fits(const MiniBatch& batch) const {
  bool fits = !room_.edges.empty() && batch.num_vertices <= room_.vertices;
  for (std::size_t hop = 0; fits && hop < batch.blocks.size(); ++hop) {
    fits = batch.blocks[hop].num_edges <= room_.edges[hop];
  }
  return fits;
}

/// Grows the capacity for a batch and for slightly larger ones.
template <class Executor>
void Sampler<Executor>::make_room(const MiniBatch& batch) {
  const auto with_slack = [](std::int64_t size) { return size + size / 32; };
  room_.vertices = std::max(room_.vertices, with_slack(batch.num_vertices));
  room_.edges.resize(batch.blocks.size());
  for (std::size_t hop = 0; hop < batch.blocks.size(); ++hop) {
    room_.edges[hop] = std::max(room_.edges[hop], with_slack(batch.blocks[hop].num_edges));
  }
}

/// Launches the kernels that write the batch's arrays, whose sizes are the capacities.
template <class Executor>
void Sampler<Executor>::write_batch(MiniBatch& batch) {
  const std::int64_t all_edges = std::accumulate(room_.edges.begin(), room_.edges.end(), std::int64_t{0});
  const auto indices = make_array<std::int32_t>(executor_, all_edges);
  batch.vertices = make_array<std::int64_t>(executor_, room_.vertices);
  if (started_.labels != nullptr) {
    batch.labels = make_array<std::int64_t>(executor_, batch.num_seeds);
  }
  passes::WriteBatch body{table_,
                          vertices_.data,
                          num_vertices(),
                          room_.vertices,
                          batch.vertices.data,
                          started_.labels,
                          batch.num_seeds,
                          batch.labels.data,
                          0,
                          {}};
  std::int64_t end = 0;
  const auto launch = [&] {
    executor_.for_each(std::max({body.room, body.num_seeds, end}), body);
    body.room = body.num_seeds = end = body.num_hops = 0;  // for the remaining hops, if any
  };
  std::int32_t* next = indices.data;
  for (std::size_t hop = 0; hop < batch.blocks.size(); ++hop) {
    batch.blocks[hop].indices = {indices.memory, next, room_.edges[hop]};
    next += room_.edges[hop];
    end += room_.edges[hop];
    body.hops[body.num_hops++] = {edge_slots_[hop].data, batch.blocks[hop].indices.data,
                                  num_edges(static_cast<std::int32_t>(hop)), end};
    if (body.num_hops == passes::WriteBatch::max_hops) {
      launch();
    }
  }
  launch();
}

}  // namespace gnomon::kernels::device
