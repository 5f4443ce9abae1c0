#pragma once

#include <cstddef>
#include <vector>

namespace gnomon::kernels {

/// Returns the capacity to allocate if `needed` elements do not fit: twice as much, so that buffers stop
/// growing after the first mini-batches. Capacity that is never used costs address space but no memory,
/// because its pages are never touched.
constexpr std::size_t with_headroom(std::size_t needed) { return 2 * needed; }

/// Ensures capacity for `needed` elements, with headroom if the vector has to grow. Its content is unchanged.
template <class T>
void reserve_with_headroom(std::vector<T>& elements, std::size_t needed) {
  if (needed > elements.capacity()) {
    elements.reserve(with_headroom(needed));
  }
}

/// Resizes a vector, with headroom if it has to grow.
template <class T>
void resize_with_headroom(std::vector<T>& elements, std::size_t size) {
  reserve_with_headroom(elements, size);
  elements.resize(size);
}

/// Copies a vector, with headroom if `to` has to grow.
template <class T>
void copy_with_headroom(const std::vector<T>& from, std::vector<T>& to) {
  reserve_with_headroom(to, from.size());
  to.assign(from.begin(), from.end());
}

}  // namespace gnomon::kernels
