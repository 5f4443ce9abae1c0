#pragma once

#include <cstddef>
#include <vector>

namespace gnomon::kernels {

/// Room that is made when `needed` does not fit: twice as much, so that after the first mini-batches nothing
/// grows. What no batch ever uses costs addresses, not memory: its pages are never touched.
constexpr std::size_t with_slack(std::size_t needed) { return 2 * needed; }

/// Room for `needed` elements in `elements`, which stay as they are.
template <class T>
void make_room(std::vector<T>& elements, std::size_t needed) {
  if (needed > elements.capacity()) {
    elements.reserve(with_slack(needed));
  }
}

/// Makes `elements` `size` long, with slack when it has to grow.
template <class T>
void resize_with_slack(std::vector<T>& elements, std::size_t size) {
  make_room(elements, size);
  elements.resize(size);
}

/// Copies; as resize_with_slack.
template <class T>
void copy_with_slack(const std::vector<T>& from, std::vector<T>& to) {
  make_room(to, from.size());
  to.assign(from.begin(), from.end());
}

}  // namespace gnomon::kernels
