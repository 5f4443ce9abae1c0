#pragma once

#include <cstddef>

#include "kernels/cpu/huge_array.h"
#include "kernels/headroom.h"

namespace gnomon::runtime {

/// Ensures the capacity of an array that the macro-batches of a training use one after the other, whose sizes
/// differ somewhat: with headroom, as the pages of new memory take longer to map than to fill. Pages that are
/// never written take no memory. The content is lost.
template <class T>
void reserve_more(kernels::cpu::HugeArray<T>& array, std::size_t capacity) {
  if (capacity > array.capacity()) {
    array.reserve(kernels::with_headroom(capacity), 0);
  }
}

}  // namespace gnomon::runtime
