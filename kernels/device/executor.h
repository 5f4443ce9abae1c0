#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

// Also compiled by nvcc as C++17, as all of kernels/device.

/// Algorithms for a device, each written once as *bodies*: constexpr function objects that are called for
/// every index of a range, in any order and at the same time. An *executor* runs one body after another:
/// kernels/cuda/executor.h on a stream of a GPU, the tests' own on the host. Its contract, with the atomic
/// operations that bodies use, is the concept Executor (kernels/device/executor_concept.h). Neighbouring
/// indices run next to each other on a GPU (32 of them, from a multiple of 32 on, are one warp), so they
/// should read neighbouring memory.
namespace gnomon::kernels::device {

/// Body::min_blocks, the blocks that a multiprocessor holds at least, of bodies for which nvcc otherwise
/// takes so few registers, on some GPU, that it spills (kernels/cuda/launch.cuh).
inline constexpr int min_blocks_without_spills = 4;

/// `count` elements of device memory, uninitialised; copies share them.
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

/// Makes room for `count` elements. If `array` has to grow, its elements are lost.
template <class T, class Executor>
void ensure_capacity(Executor& executor, Array<T>& array, std::int64_t count) {
  if (array.count < count) {
    array = {};  // first, so that its memory can be used again
    array = make_array<T>(executor, count);
  }
}

}  // namespace gnomon::kernels::device
