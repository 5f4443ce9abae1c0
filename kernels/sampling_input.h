#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17: the input checks that all samplers share.

namespace gnomon::kernels {

/// Throws base::InputError if there are no fanouts or if one is neither -1 (all neighbours) nor 1 …
/// max_fanout.
inline void check_fanouts(const std::vector<int>& fanouts) {
  if (fanouts.empty()) {
    throw base::InputError("fanouts", "is empty; give one fanout per hop");
  }
  for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
    if (fanouts[hop] != -1 && (fanouts[hop] < 1 || fanouts[hop] > max_fanout)) {
      throw base::InputError("fanouts[" + std::to_string(hop) + "]",
                             std::to_string(fanouts[hop]) +
                                 " is out of range; use -1 (all neighbours) or 1 to " +
                                 std::to_string(max_fanout));
    }
  }
}

/// Throws base::InputError for a seed outside [0, vertices).
inline void check_seeds(const std::int64_t* seeds, std::size_t count, std::int64_t vertices) {
  for (std::size_t i = 0; i < count; ++i) {
    if (seeds[i] < 0 || seeds[i] >= vertices) {
      throw base::InputError(
          "seeds[" + std::to_string(i) + "]",
          std::to_string(seeds[i]) + " is not a vertex; the graph has " + std::to_string(vertices));
    }
  }
}

/// Throws base::InputError for the seed at `position`, which is a repetition.
[[noreturn]] inline void refuse_repeated_seed(std::size_t position, std::int64_t vertex) {
  throw base::InputError("seeds[" + std::to_string(position) + "]",
                         "vertex " + std::to_string(vertex) + " is repeated; seeds must be distinct");
}

}  // namespace gnomon::kernels
