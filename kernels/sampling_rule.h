#pragma once

#include <cstdint>

#include "base/philox.h"

// Also compiled by nvcc as C++17: this header is the one definition of which neighbours are drawn.

namespace gnomon::kernels {

/// Largest fanout that can be drawn ("all neighbours" has no limit).
inline constexpr int max_fanout = 512;

/// Which mini-batch of which run: with the graph and the fanouts it fixes the batch.
struct BatchKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

/// Draws `fanout` distinct positions out of [0, degree), degree > fanout, uniformly over all subsets, by
/// Floyd's method (Bentley and Floyd, CACM 30(9), 1987): draw i is uniform in [0, degree - fanout + i], and a
/// position that was drawn before is replaced by degree - fanout + i. Draw i reads word i of the vertex's
/// stream when degree <= 2^16, words 2i and 2i+1 otherwise. Positions are left in `positions` in the order of
/// the draws.
constexpr void draw_positions(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                              std::int64_t degree, int fanout, std::int64_t* positions) {
  const base::StreamKey stream{key.seed, base::Purpose::neighbours,         key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(vertex)};
  const bool wide = degree > (std::int64_t{1} << 16);
  const int draws_per_block = wide ? 2 : 4;
  base::Words4 words{};
  for (int i = 0; i < fanout; ++i) {
    const int lane = i % draws_per_block;
    if (lane == 0) {
      words = base::random_words(stream, static_cast<std::uint32_t>(i / draws_per_block));
    }
    const std::int64_t last = degree - fanout + i;
    std::int64_t drawn = 0;
    if (wide) {
      drawn = static_cast<std::int64_t>(base::below64(words.word[2 * lane], words.word[2 * lane + 1],
                                                      static_cast<std::uint64_t>(last) + 1));
    } else {
      drawn = base::below32(words.word[lane], static_cast<std::uint32_t>(last) + 1);
    }
    for (int j = 0; j < i; ++j) {
      if (positions[j] == drawn) {
        drawn = last;
        break;
      }
    }
    positions[i] = drawn;
  }
}

}  // namespace gnomon::kernels
