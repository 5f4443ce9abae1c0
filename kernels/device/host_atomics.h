#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/device/executor_concept.h"

namespace gnomon::kernels::device {

/// The atomic operations of bodies that threads of the host run.
struct HostAtomics {
  template <class T>
  static T load(const T* at) {
    return std::atomic_ref(*const_cast<T*>(at)).load(std::memory_order_relaxed);
  }
  template <class T>
  static T compare_exchange(T* at, T expected, T desired) {
    std::atomic_ref(*at).compare_exchange_strong(expected, desired, std::memory_order_relaxed);
    return expected;
  }
  template <class T>
  static void min(T* at, T value) {
    std::atomic_ref reference(*at);
    T seen = reference.load(std::memory_order_relaxed);
    while (value < seen && !reference.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  template <class T>
  static T add(T* at, T value) {
    return std::atomic_ref(*at).fetch_add(value, std::memory_order_relaxed);
  }
};

static_assert(Atomics<HostAtomics, std::uint32_t> && Atomics<HostAtomics, std::int64_t>);

}  // namespace gnomon::kernels::device
