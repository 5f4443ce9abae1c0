#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/reservoir_keys.h"
#include "kernels/sampling_rule.h"

// The definition of weighted neighbour sampling without replacement for all devices. Also compiled by nvcc as
// C++17. Each draw is proportional to the weights of the edges that remain in the neighbour list; an edge of
// weight 0 is never drawn.
//
// Draws use alias tables with rejection. Every list has an alias table (Walker, ACM TOMS 3(3), 1977; Vose,
// IEEE TSE 17(9), 1991): one column per edge, all equally likely, whose first part belongs to the edge itself
// and whose rest belongs to another edge. A position that was drawn before is rejected. The next accepted
// position then has the probability of its share of the remaining weight, whatever the number of rejections,
// so the distinct positions are draws without replacement in the order of the draws.
//
// If a few edges hold nearly all the weight, rejection may take long. The number of attempts is therefore
// limited, and the remaining positions are drawn by reservoir sampling (kernels/reservoir_keys.h) from the
// rest of the list. The result is still exact: given the positions drawn so far, the number and the values of
// the rejected attempts are independent of the following draws, and the reservoir keys use their own random
// words.

namespace gnomon::kernels {

/// One column of a list's alias table. The edge at the column's position owns the first `threshold` of 2^32
/// parts, and the edge at position `other` owns the rest. A column that belongs to one edge only has its own
/// position as `other`. The threshold is 0 if and only if the edge's weight is 0. Such an edge is no column's
/// `other`, except its own in a list whose weights are all 0, from which nothing is drawn.
struct AliasColumn {
  std::uint32_t threshold = 0;
  std::uint32_t other = 0;
};

/// A vertex's neighbour list for weighted draws.
struct WeightedList {
  const AliasColumn* columns = nullptr;
  const float* weights = nullptr;  ///< read by reservoir sampling only
  std::int64_t degree = 0;
  std::int64_t first_edge = 0;  ///< the list's begin in the graph's indices
};

/// Returns the maximum number of attempts to draw `count` positions before reservoir sampling draws the rest.
/// Reservoir sampling reads the whole list, so a long list is worth more attempts. The limit keeps the blocks
/// of random words below 2^13.
constexpr int max_attempts(int count, std::int64_t degree) {
  constexpr std::int64_t max_for_length = 4096;
  const std::int64_t for_length = degree / 16;
  return 4 * count + 32 + static_cast<int>(for_length < max_for_length ? for_length : max_for_length);
}

/// Above this degree, drawing a column takes two random words.
inline constexpr std::int64_t max_narrow_degree = std::int64_t{1} << 16;

/// Returns the random stream of a vertex's attempts. Up to max_narrow_degree, attempt i uses words 2i (the
/// column) and 2i+1 (the part); above, words 4i and 4i+1 (the column) and 4i+2 (the part).
constexpr base::StreamKey attempt_stream(const BatchKey& key, std::uint32_t hop, std::int64_t vertex) {
  return {key.seed, base::Purpose::alias_draws,        key.epoch, key.batch,
          hop,      static_cast<std::uint64_t>(vertex)};
}

/// Returns the position that owns `part` of a column. It is branchless, because the branch would be
/// unpredictable.
constexpr std::int64_t position_in(const AliasColumn& column, std::int64_t own, std::uint32_t part) {
  const std::int64_t is_own = -static_cast<std::int64_t>(part < column.threshold);
  const std::int64_t other = column.other;
  return other ^ ((own ^ other) & is_own);
}

constexpr bool contains(const std::int64_t* positions, int count, std::int64_t position) {
  for (int i = 0; i < count; ++i) {
    if (positions[i] == position) {
      return true;
    }
  }
  return false;
}

/// Makes attempts `begin` (even) … end - 1, stopping early when `count` distinct positions are drawn. The
/// first `drawn` positions are there already. Returns their number afterwards.
constexpr int attempt_draws(const base::StreamKey& stream, const WeightedList& list, int begin, int end,
                            int drawn, int count, std::int64_t* positions) {
  const bool wide = list.degree > max_narrow_degree;
  base::Words4 words{};
  for (int i = begin; i < end && drawn < count; ++i) {
    std::int64_t column = 0;
    std::uint32_t part = 0;
    if (wide) {
      words = base::random_words(stream, static_cast<std::uint32_t>(i));
      column = static_cast<std::int64_t>(
          base::below64(words.word[0], words.word[1], static_cast<std::uint64_t>(list.degree)));
      part = words.word[2];
    } else {
      if (i % 2 == 0) {
        words = base::random_words(stream, static_cast<std::uint32_t>(i / 2));
      }
      column = base::below32(words.word[i % 2 * 2], static_cast<std::uint32_t>(list.degree));
      part = words.word[i % 2 * 2 + 1];
    }
    const std::int64_t position = position_in(list.columns[column], column, part);
    if (!contains(positions, drawn, position)) {
      positions[drawn++] = position;
    }
  }
  return drawn;
}

/// Draws the remaining positions by weighted reservoir sampling: it keeps the smallest keys in ascending
/// order.
class WeightedReservoir {
 public:
  /// `positions` holds the `drawn` positions to exclude, followed by space for the sample of `capacity` > 0
  /// positions. `keys` has space for `capacity` keys.
  constexpr WeightedReservoir(std::int64_t* positions, double* keys, int drawn, int capacity)
      : WeightedReservoir(positions, drawn, positions + drawn, keys, capacity) {}
  /// The sample apart from the positions to exclude.
  constexpr WeightedReservoir(const std::int64_t* excluded, int num_excluded, std::int64_t* sample,
                              double* keys, int capacity)
      : drawn_(excluded), num_drawn_(num_excluded), sample_(sample), keys_(keys), capacity_(capacity) {}

  /// Samples from every `step`-th position of the list from `first` on; from all by default. Precondition:
  /// enough of the list's edges have a positive weight.
  constexpr void run(const BatchKey& key, std::uint32_t hop, const WeightedList& list, std::int64_t first = 0,
                     std::int64_t step = 1) {
    base::Words4 words{};
    for (std::int64_t position = first; position < list.degree; position += step) {
      const std::int64_t edge = list.first_edge + position;
      if (edge % 2 == 0 || position == first || step > 1) {
        words = edge_words(key, hop, edge);
      }
      if (list.columns[position].threshold > 0) {
        offer(position, edge_bits(words, edge), list.weights[position]);
      }
    }
  }

  /// The number of positions that were sampled: `capacity`, or all of the part if it has fewer.
  constexpr int size() const { return size_; }

 private:
  constexpr void offer(std::int64_t position, std::uint64_t bits, float weight) {
    if (size_ == capacity_ && certainly_exceeds(bits, weight, keys_[size_ - 1])) {
      return;
    }
    const double key = reservoir_key(bits, weight);
    if ((size_ == capacity_ && key >= keys_[size_ - 1]) || contains(drawn_, num_drawn_, position)) {
      return;
    }
    size_ += size_ < capacity_ ? 1 : 0;
    int i = size_ - 1;
    for (; i > 0 && key < keys_[i - 1]; --i) {
      keys_[i] = keys_[i - 1];
      sample_[i] = sample_[i - 1];
    }
    keys_[i] = key;
    sample_[i] = position;
  }

  const std::int64_t* drawn_;
  int num_drawn_;
  std::int64_t* sample_;  ///< by ascending key
  double* keys_;
  int capacity_;
  int size_ = 0;
};

/// Completes a draw of `count` distinct positions of which the first `attempts` (even) attempts have drawn
/// the first `drawn`. Writes the positions in the order of the draws. `keys` is scratch space for `count`
/// numbers. Precondition: the list has at least `count` edges of positive weight.
constexpr void finish_draws(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                            const WeightedList& list, int attempts, int drawn, int count,
                            std::int64_t* positions, double* keys) {
  drawn = attempt_draws(attempt_stream(key, hop, vertex), list, attempts, max_attempts(count, list.degree),
                        drawn, count, positions);
  if (drawn < count) {
    WeightedReservoir(positions, keys, drawn, count - drawn).run(key, hop, list);
  }
}

/// Draws `count` distinct positions, as finish_draws from the first attempt on.
constexpr void draw_by_weight(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                              const WeightedList& list, int count, std::int64_t* positions, double* keys) {
  finish_draws(key, hop, vertex, list, 0, 0, count, positions, keys);
}

/// Returns the number of neighbours that are drawn from a list with `positives` edges of positive weight. A
/// fanout of -1 takes all of them.
constexpr std::int64_t drawn_by_weight(std::int64_t positives, int fanout) {
  return fanout < 0 || positives < fanout ? positives : fanout;
}

/// Whether all edges of positive weight are taken, in the order of the list, without drawing.
constexpr bool takes_all(std::int64_t degree, int fanout) { return fanout < 0 || degree <= fanout; }

}  // namespace gnomon::kernels
