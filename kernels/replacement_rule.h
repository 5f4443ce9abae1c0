#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/sampling_rule.h"
#include "kernels/weighted_rule.h"

// The definition of neighbour sampling with replacement: independent draws, uniform or by weight.

namespace gnomon::kernels {

/// Draws `count` positions from [0, degree), uniformly and independently. Draw i uses word i of the vertex's
/// random stream if degree <= 2^16, and words 2i and 2i+1 otherwise. Precondition: degree > 0.
constexpr void draw_positions_with_replacement(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                                               std::int64_t degree, int count, std::int64_t* positions) {
  const base::StreamKey stream{key.seed, base::Purpose::neighbours,         key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(vertex)};
  const bool wide = degree > max_narrow_degree;
  const int draws_per_block = wide ? 2 : 4;
  base::Words4 words{};
  for (int i = 0; i < count; ++i) {
    const int draw = i % draws_per_block;
    if (draw == 0) {
      words = base::random_words(stream, static_cast<std::uint32_t>(i / draws_per_block));
    }
    positions[i] =
        wide ? static_cast<std::int64_t>(base::below64(words.word[2 * draw], words.word[2 * draw + 1],
                                                       static_cast<std::uint64_t>(degree)))
             : std::int64_t{base::below32(words.word[draw], static_cast<std::uint32_t>(degree))};
  }
}

/// Draws `count` positions independently, each with a probability proportional to its weight. Draw i is
/// attempt i of the vertex's stream (kernels/weighted_rule.h). Precondition: some weight is positive.
constexpr void draw_by_weight_with_replacement(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                                               const WeightedList& list, int count, std::int64_t* positions) {
  const base::StreamKey stream = attempt_stream(key, hop, vertex);
  const bool wide = list.degree > max_narrow_degree;
  const int draws_per_block = wide ? 1 : 2;
  base::Words4 words{};
  for (int i = 0; i < count; ++i) {
    const int draw = i % draws_per_block;
    if (draw == 0) {
      words = base::random_words(stream, static_cast<std::uint32_t>(i / draws_per_block));
    }
    const std::int64_t column =
        wide ? static_cast<std::int64_t>(
                   base::below64(words.word[0], words.word[1], static_cast<std::uint64_t>(list.degree)))
             : std::int64_t{base::below32(words.word[2 * draw], static_cast<std::uint32_t>(list.degree))};
    positions[i] = position_in(list.columns[column], column, words.word[wide ? 2 : 2 * draw + 1]);
  }
}

}  // namespace gnomon::kernels
