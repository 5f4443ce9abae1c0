#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

// Also compiled by nvcc as C++17, as all of kernels/device.

/// Algorithms for a device, each written once as *bodies*: constexpr function objects that are called for
/// every index of a range, in any order and at the same time. An *executor* runs them, one after the other:
/// kernels/cuda/executor.h on a stream of a GPU, the tests' own on the host. An executor is a type with
///
///     using Atomics = …;                 // see below
///     std::shared_ptr<void> allocate(std::size_t bytes);        // device memory, 256-byte aligned
///     template <class Body> void for_each(std::int64_t count, const Body& body);   // body(0 … count - 1)
///     template <class T> void exclusive_sum(T* values, std::int64_t count);        // in place
///     void fill(void* memory, int byte, std::size_t bytes);
///     void upload(void* to_device, const void* from_host, std::size_t bytes);  // of pageable memory, which
///     may go at once void download(void* to_host, const void* from_device, std::size_t bytes);  // waits for
///     all before
///
/// Only download makes the host wait. Indices that lie side by side run side by side on a GPU (32 of them
/// from a multiple of 32 on are one warp), so they should read side by side.
///
/// Atomics has static functions on memory that other indices of the same range may use, all relaxed:
///
///     template <class T> constexpr T load(const T* at);
///     template <class T> constexpr T compare_exchange(T* at, T expected, T desired);   // returns what was
///     there template <class T> constexpr void min(T* at, T value); template <class T> constexpr void add(T*
///     at, T value);                           // of integers
namespace gnomon::kernels::device {

/// `count` elements of device memory, not initialised; copies share it.
template <class T>
struct Array {
  std::shared_ptr<void> memory;
  T* data = nullptr;
  std::int64_t count = 0;
};

template <class T, class Executor>
Array<T> make_array(Executor& executor, std::int64_t count) {
  Array<T> array;
  array.memory = executor.allocate(static_cast<std::size_t>(count) * sizeof(T));
  array.data = static_cast<T*>(array.memory.get());
  array.count = count;
  return array;
}

/// Room for at least `count` elements; what `array` held is lost when it has to grow.
template <class T, class Executor>
void ensure_capacity(Executor& executor, Array<T>& array, std::int64_t count) {
  if (array.count < count) {
    array = {};  // first, so that the memory can serve again
    array = make_array<T>(executor, count);
  }
}

}  // namespace gnomon::kernels::device
