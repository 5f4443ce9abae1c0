#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/sampler.h"
#include "kernels/sampling_rule.h"
#include "kernels/weighted_rule.h"

// The bodies of the sampler that draw positions from the neighbour lists of a hop's destinations. Also
// compiled by nvcc as C++17.

namespace gnomon::kernels::device::passes {

/// The number of neighbours to draw for each destination, whose prefix sums are the row pointers; 0 beyond
/// the last destination. Copies each destination's list header, which may be in host memory, to device memory
/// for the following passes, and finds the first repeated seed in the first hop.
template <class Atomics>
struct FindLists {
  Topology topology;
  const std::int64_t* vertices;
  const std::int64_t* known;
  int fanout;
  List* lists;
  IdTable table;
  const std::uint32_t* slots;    ///< of the seeds in the table
  std::int64_t* first_repeated;  ///< null beyond the first hop
  constexpr std::int64_t operator()(std::int64_t i) const {
    if (i >= *known) {
      return 0;
    }
    if (first_repeated != nullptr && table.slots[slots[i]].value != static_cast<std::uint32_t>(i)) {
      Atomics::min(first_repeated, i);
    }
    const List list = topology.neighbours(vertices[i]);
    lists[i] = list;
    return topology.num_drawn(vertices[i], list.degree, fanout);
  }
};

/// Writes the numbers of FindLists. Where there are many destinations, this and a prefix sum of the numbers
/// are faster than a prefix sum that finds the lists: each of its threads waits for several, one after the
/// other.
template <class Atomics>
struct CountDraws {
  FindLists<Atomics> find;
  std::int64_t* counts;
  constexpr void operator()(std::int64_t i) const { counts[i] = find(i); }
};

struct WriteSum {
  std::int64_t* sums;
  constexpr void operator()(std::int64_t i, std::int64_t sum) const { sums[i] = sum; }
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
  /// Whether the rest of a list's draws is left to the next passes.
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
  static constexpr int min_blocks = min_blocks_without_spills;
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

}  // namespace gnomon::kernels::device::passes
