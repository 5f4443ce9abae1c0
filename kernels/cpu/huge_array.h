#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/slack.h"

namespace gnomon::kernels::cpu {

/// Releases memory of allocate_huge.
struct HugeRelease {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};
using HugeMemory = std::unique_ptr<std::byte, HugeRelease>;

/// At least `bytes` zero bytes at a page's boundary, on huge pages where the system grants them: random reads
/// then miss the address translation's buffers far less often. Pages are placed by the thread that first
/// touches them. Throws std::bad_alloc.
HugeMemory allocate_huge(std::size_t bytes);

/// Elements that are not initialised, on huge pages; grows, never shrinks.
template <class T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HugeArray() = default;
  explicit HugeArray(std::size_t capacity) { reserve(capacity, 0); }

  /// Room for `capacity` elements; the first `used` are kept.
  void reserve(std::size_t capacity, std::size_t used) {
    if (capacity <= capacity_) {
      return;
    }
    HugeMemory memory = allocate_huge(capacity * sizeof(T));
    if (used > 0) {
      std::memcpy(memory.get(), memory_.get(), used * sizeof(T));
    }
    memory_ = std::move(memory);
    capacity_ = capacity;
  }

  T* data() { return reinterpret_cast<T*>(memory_.get()); }
  const T* data() const { return reinterpret_cast<const T*>(memory_.get()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t capacity() const { return capacity_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }

 private:
  HugeMemory memory_;
  std::size_t capacity_ = 0;
};

/// What falls to one of several threads of a small batch varies much from batch to batch: room for no less.
inline constexpr std::size_t least_room = 1024;

/// A HugeArray that is filled bit by bit, batch after batch: when a batch made it grow, it has twice the room
/// that was needed before the next one.
template <class T>
class GrowingArray {
 public:
  /// Room for `needed` elements; the first `used` are kept.
  void make_room(std::size_t needed, std::size_t used) {
    needed_ = std::max({needed_, needed, least_room});
    if (needed > array_.capacity()) {
      array_.reserve(with_slack(needed), used);
      grew_ = true;
    }
  }
  /// Ends a batch; what the array held is lost.
  void settle() {
    if (std::exchange(grew_, false)) {
      array_.reserve(with_slack(needed_), 0);
    }
  }

  const HugeArray<T>& array() const { return array_; }
  T* data() { return array_.data(); }
  const T* data() const { return array_.data(); }
  T& operator[](std::size_t i) { return array_[i]; }
  const T& operator[](std::size_t i) const { return array_[i]; }
  std::size_t bytes() const { return array_.bytes(); }

 private:
  HugeArray<T> array_;
  std::size_t needed_ = 0;
  bool grew_ = false;
};

}  // namespace gnomon::kernels::cpu
