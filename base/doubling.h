#pragma once

#include <vector>

namespace gnomon::base {

/// 1, 2, 4, … and `max` itself. Precondition: max >= 1.
inline std::vector<int> doubling(int max) {
  std::vector<int> counts;
  for (int count = 1; count < max; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(max);
  return counts;
}

}  // namespace gnomon::base
