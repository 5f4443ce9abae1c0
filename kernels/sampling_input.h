#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17: what every sampler refuses, in the same words.

namespace gnomon::kernels {

/// Throws base::InputError unless there are fanouts and each is -1 (all neighbours) or 1 … max_fanout.
inline void check_fanouts(const std::vector<int>& fanouts) {
  if (fanouts.empty()) {
    throw base::InputError("fanouts", "there are none; give one a hop");
  }
  for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
    if (fanouts[hop] != -1 && (fanouts[hop] < 1 || fanouts[hop] > max_fanout)) {
      throw base::InputError("fanouts[" + std::to_string(hop) + "]",
                             std::to_string(fanouts[hop]) +
                                 " cannot be drawn; use -1 (all neighbours) or 1 to " +
                                 std::to_string(max_fanout));
    }
  }
}

/// Throws base::InputError for a seed that is not one of so many vertices.
inline void check_seeds(const std::int64_t* seeds, std::size_t count, std::int64_t vertices) {
  for (std::size_t i = 0; i < count; ++i) {
    if (seeds[i] < 0 || seeds[i] >= vertices) {
      throw base::InputError(
          "seeds[" + std::to_string(i) + "]",
          std::to_string(seeds[i]) + " is not a vertex; the graph has " + std::to_string(vertices));
    }
  }
}

/// Throws base::InputError for the seed at `position`, which came before.
[[noreturn]] inline void refuse_repeated_seed(std::size_t position, std::int64_t vertex) {
  throw base::InputError("seeds[" + std::to_string(position) + "]",
                         "vertex " + std::to_string(vertex) + " comes twice; seeds must be distinct");
}

}  // namespace gnomon::kernels
