#pragma once

#include <cstdint>

#include "base/philox.h"

// The definition of uniform neighbour sampling for all devices. Also compiled by nvcc as C++17.

namespace gnomon::kernels {

/// Largest fanout that can be drawn ("all neighbours" has no limit).
inline constexpr int max_fanout = 512;

/// Identifies a mini-batch of a run. Together with the graph, the seeds and the fanouts it determines the
/// sample.
struct BatchKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

/// Draws `fanout` distinct positions from [0, degree), uniformly over all subsets, by Floyd's algorithm
/// (Bentley and Floyd, CACM 30(9), 1987): draw i is uniform in [0, degree - fanout + i], and a position that
/// was drawn before is replaced by degree - fanout + i. Draw i uses word i of the vertex's random stream if
/// degree <= 2^16, and words 2i and 2i+1 otherwise. Writes the positions in the order of the draws.
/// Precondition: degree > fanout.
constexpr void draw_positions(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                              std::int64_t degree, int fanout, std::int64_t* positions) {
  const base::StreamKey stream{key.seed, base::Purpose::neighbours,         key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(vertex)};
  const bool wide = degree > (std::int64_t{1} << 16);
  const int draws_per_block = wide ? 2 : 4;
  base::Words4 words{};
  for (int i = 0; i < fanout; ++i) {
    const int draw = i % draws_per_block;  // within the block of random words
    if (draw == 0) {
      words = base::random_words(stream, static_cast<std::uint32_t>(i / draws_per_block));
    }
    const std::int64_t last = degree - fanout + i;
    std::int64_t drawn = 0;
    if (wide) {
      drawn = static_cast<std::int64_t>(base::below64(words.word[2 * draw], words.word[2 * draw + 1],
                                                      static_cast<std::uint64_t>(last) + 1));
    } else {
      drawn = base::below32(words.word[draw], static_cast<std::uint32_t>(last) + 1);
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
