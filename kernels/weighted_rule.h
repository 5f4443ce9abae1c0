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
  return {key.seed, base::Purpose::alias_draws,        key.epoch, key.batch,
          hop,      static_cast<std::uint64_t>(vertex)};
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

/// Draws what is left to draw by the race: the first to arrive stand in `positions` in their order.
class Race {
 public:
  /// `positions` has the `drawn` that take no part, and room for `most` > 0 behind them; `times` has room for
  /// as many.
  constexpr Race(std::int64_t* positions, double* times, int drawn, int most)
      : drawn_(positions), num_drawn_(drawn), winners_(positions + drawn), times_(times), most_(most) {}

  /// The whole list takes part, of which enough edges have a weight.
  constexpr void run(const BatchKey& key, std::uint32_t hop, const WeightedList& list) {
    base::Words4 words{};
    for (std::int64_t position = 0; position < list.degree; ++position) {
      const std::int64_t edge = list.first_edge + position;
      if (edge % 2 == 0 || position == 0) {
        words = edge_words(key, hop, edge);
      }
      if (list.columns[position].threshold > 0) {
        enter(position, edge_bits(words, edge), list.weights[position]);
      }
    }
  }

 private:
  constexpr void enter(std::int64_t position, std::uint64_t bits, float weight) {
    if (held_ == most_ && is_late(bits, weight, times_[held_ - 1])) {
      return;
    }
    const double time = arrival_time(bits, weight);
    if ((held_ == most_ && time >= times_[held_ - 1]) || contains(drawn_, num_drawn_, position)) {
      return;
    }
    held_ += held_ < most_ ? 1 : 0;
    int place = held_ - 1;
    for (; place > 0 && time < times_[place - 1]; --place) {
      times_[place] = times_[place - 1];
      winners_[place] = winners_[place - 1];
    }
    times_[place] = time;
    winners_[place] = position;
  }

  const std::int64_t* drawn_;
  int num_drawn_;
  std::int64_t* winners_;
  double* times_;
  int most_;
  int held_ = 0;
};

/// Draws `count` distinct positions of a list, which has at least as many edges of positive weight, after
/// `attempts` (even) that drew the first `drawn` of them. Positions are left in the order of the draws;
/// `times` has room for `count` numbers, of no use afterwards.
constexpr void finish_draws(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                            const WeightedList& list, int attempts, int drawn, int count,
                            std::int64_t* positions, double* times) {
  drawn = attempt_draws(attempt_stream(key, hop, vertex), list, attempts, most_attempts(count, list.degree),
                        drawn, count, positions);
  if (drawn < count) {
    Race(positions, times, drawn, count - drawn).run(key, hop, list);
  }
}

/// The same from the first attempt on.
constexpr void draw_by_weight(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                              const WeightedList& list, int count, std::int64_t* positions, double* times) {
  finish_draws(key, hop, vertex, list, 0, 0, count, positions, times);
}

/// How many neighbours are drawn of a list by weight; a fanout of -1 takes all that have one.
constexpr std::int64_t drawn_by_weight(std::int64_t positives, int fanout) {
  return fanout < 0 || positives < fanout ? positives : fanout;
}

/// Whether all edges of positive weight are taken, in the order of the list, without a draw.
constexpr bool takes_all(std::int64_t degree, int fanout) { return fanout < 0 || degree <= fanout; }

}  // namespace gnomon::kernels
