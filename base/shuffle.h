#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace gnomon::base {

/// Brings the elements into a uniform random order (Fisher-Yates shuffle).
template <class T>
void shuffle(std::vector<T>& elements, RandomStream& random) {
  for (std::size_t left = elements.size(); left > 1; --left) {
    std::swap(elements[left - 1], elements[random.below(left)]);
  }
}

}  // namespace gnomon::base
