#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/headroom.h"

namespace gnomon::kernels::cpu {

/// Unmaps memory of allocate_huge.
struct HugeRelease {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};
using HugeMemory = std::unique_ptr<std::byte, HugeRelease>;

/// Allocates at least `bytes` zeroed bytes, page-aligned, on huge pages if the system grants them, which
/// makes TLB misses of random reads far rarer. A page is placed on the NUMA node of the thread that touches
/// it first. Throws std::bad_alloc.
HugeMemory allocate_huge(std::size_t bytes);

/// An array of uninitialised elements on huge pages that can grow but not shrink.
template <class T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HugeArray() = default;
  explicit HugeArray(std::size_t capacity) { reserve(capacity, 0); }

  /// Ensures `capacity`; the first `used` elements are preserved.
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

/// Minimum capacity of per-thread buffers: the load of a thread varies much between small batches.
inline constexpr std::size_t min_capacity = 1024;

/// A HugeArray that is filled incrementally in every batch. If a batch has made it grow, end_batch() reserves
/// headroom over the largest batch so far.
template <class T>
class GrowingArray {
 public:
  /// Ensures capacity for `needed` elements; the first `used` are preserved.
  void ensure_capacity(std::size_t needed, std::size_t used) {
    needed_ = std::max({needed_, needed, min_capacity});
    if (needed > array_.capacity()) {
      array_.reserve(with_headroom(needed), used);
      grew_ = true;
    }
  }
  /// Ends a batch. The content is lost.
  void end_batch() {
    if (std::exchange(grew_, false)) {
      array_.reserve(with_headroom(needed_), 0);
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
  std::size_t needed_ = 0;  ///< the largest number of elements needed so far
  bool grew_ = false;
};

}  // namespace gnomon::kernels::cpu
