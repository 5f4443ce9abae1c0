#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/arrivals.h"
#include "kernels/sampling_rule.h"

// The one definition of which neighbours are drawn by weight; also compiled by nvcc as C++17. Each draw is
// proportional to the weights of what is left of the list, and an edge of weight 0 is never drawn.
//
// Every list has an alias table (Walker, ACM TOMS 3(3), 1977; Vose, IEEE TSE 17(9), 1991): a column for each
// edge, all alike likely, of which the edge itself takes one part and another edge the rest. A position that
// came before is drawn again. What comes first of the others is then as likely as its share of what is left,
// however often it took: the distinct positions are draws without replacement, in the order of the draws.
//
// Where a few edges hold nearly all the weight that may take long, so the attempts are counted, and when they
// are used up the race of kernels/arrivals.h among all that is left of the list draws the rest. That is exact
// too: given what was drawn, neither the attempts that failed nor their number tell anything of what comes
// next, and the race has random words of its own.

namespace gnomon::kernels {

/// One column of a list's alias table. The edge at the column's position has the first `threshold` of 2^32
/// parts, the one at position `other` the rest; a column of one edge alone has that edge's position as
/// `other`. The threshold is 0 where the edge's weight is 0, and nowhere else; such an edge is no column's
/// `other` (but its own in a list without any weight, from which nothing is drawn).
struct AliasColumn {
  std::uint32_t threshold = 0;
  std::uint32_t other = 0;
};

/// A vertex's list as draws by weight read it.
struct WeightedList {
  const AliasColumn* columns = nullptr;
  const float* weights = nullptr;  ///< read by the race only
  std::int64_t degree = 0;
  std::int64_t first_edge = 0;  ///< of the list in the graph's indices
};

/// After how many attempts to draw `count` positions the race draws what is left. The race costs as much as
/// reading the list, so a long list is worth more attempts; blocks of random words stay below 2^13.
constexpr int most_attempts(int count, std::int64_t degree) {
  constexpr std::int64_t most_for_length = 4096;
  const std::int64_t for_length = degree / 16;
  return 4 * count + 32 + static_cast<int>(for_length < most_for_length ? for_length : most_for_length);
}

/// Above this degree a column takes two random words.
inline constexpr std::int64_t most_narrow_degree = std::int64_t{1} << 16;

/// The words of a vertex's attempts. Up to most_narrow_degree attempt i reads words 2i (the column) and 2i+1
/// (which part of it), above words 4i and 4i+1 (the column) and 4i+2.
constexpr base::StreamKey attempt_stream(const BatchKey& key, std::uint32_t hop, std::int64_t vertex) {
  return {key.seed, base::Purpose::weights, key.epoch, key.batch, hop, static_cast<std::uint64_t>(vertex)};
}

/// The position that a column gives to a part of it; without a branch, which nobody could foretell.
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

/// Makes attempts `begin` (even) to end - 1, or until `count` distinct positions are drawn, the first `drawn`
/// of which there are already. Returns how many there are now.
constexpr int attempt_draws(const base::StreamKey& stream, const WeightedList& list, int begin, int end,
                            int drawn, int count, std::int64_t* positions) {
  const bool wide = list.degree > most_narrow_degree;
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

/// Draws what is left to draw by the race, whose winners stand in `positions` in order while it lasts: their
/// times are found again when they are asked for, so that a device needs no memory for it.
class Race {
 public:
  /// `positions` has the `drawn` that take no part, and room for `most` > 0 behind them.
  constexpr Race(const BatchKey& key, std::uint32_t hop, const WeightedList& list, std::int64_t* positions,
                 int drawn, int most)
      : key_(key), hop_(hop), list_(list), drawn_(positions), winners_(positions + drawn), most_(most) {}

  /// The whole list takes part, of which enough edges have a weight.
  constexpr void run() {
    for (std::int64_t position = 0; position < list_.degree; ++position) {
      if (list_.columns[position].threshold > 0 && !is_too_late(position) &&
          !contains(drawn_, static_cast<int>(winners_ - drawn_), position)) {
        enter(position);
      }
    }
  }

 private:
  constexpr std::uint64_t bits_of(std::int64_t position) const {
    return edge_bits(key_, hop_, list_.first_edge + position);
  }
  constexpr Arrival arrival_of(std::int64_t position) const {
    return arrival(bits_of(position), list_.weights[position], position);
  }
  constexpr bool is_too_late(std::int64_t position) const {
    return held_ == most_ && is_late(bits_of(position), list_.weights[position], last_.time);
  }
  constexpr void enter(std::int64_t position) {
    const Arrival own = arrival_of(position);
    if (held_ == most_ && !(own < last_)) {
      return;
    }
    int low = 0;
    for (int high = held_; low < high;) {
      const int middle = low + (high - low) / 2;
      if (own < arrival_of(winners_[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    held_ += held_ < most_ ? 1 : 0;
    for (int i = held_ - 1; i > low; --i) {
      winners_[i] = winners_[i - 1];
    }
    winners_[low] = position;
    last_ = arrival_of(winners_[held_ - 1]);
  }

  BatchKey key_;
  std::uint32_t hop_;
  WeightedList list_;
  const std::int64_t* drawn_;
  std::int64_t* winners_;
  int most_;
  int held_ = 0;
  Arrival last_;  ///< of the winners
};

/// Draws `count` distinct positions of a list, which has at least as many edges of positive weight, after
/// `attempts` (even) that drew the first `drawn` of them. Positions are left in the order of the draws.
constexpr void finish_draws(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                            const WeightedList& list, int attempts, int drawn, int count,
                            std::int64_t* positions) {
  drawn = attempt_draws(attempt_stream(key, hop, vertex), list, attempts, most_attempts(count, list.degree),
                        drawn, count, positions);
  if (drawn < count) {
    Race(key, hop, list, positions, drawn, count - drawn).run();
  }
}

/// The same from the first attempt on.
constexpr void draw_by_weight(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                              const WeightedList& list, int count, std::int64_t* positions) {
  finish_draws(key, hop, vertex, list, 0, 0, count, positions);
}

/// How many neighbours are drawn of a list by weight; a fanout of -1 takes all that have one.
constexpr std::int64_t drawn_by_weight(std::int64_t positives, int fanout) {
  return fanout < 0 || positives < fanout ? positives : fanout;
}

/// Whether all edges of positive weight are taken, in the order of the list, without a draw.
constexpr bool takes_all(std::int64_t degree, int fanout) { return fanout < 0 || degree <= fanout; }

}  // namespace gnomon::kernels
