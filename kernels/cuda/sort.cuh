#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/check.h"
#include "kernels/cuda/executor.h"

// For .cu files.

namespace gnomon::kernels::cuda {

/// Sorts (key, value) pairs by keys in 0 … max_key. The sort is stable and asynchronous.
inline void sort_by_key(Executor& executor, std::int32_t max_key, std::int64_t count,
                        const std::int32_t* keys, std::int32_t* sorted_keys, const std::int32_t* values,
                        std::int32_t* sorted_values) {
  int bits = 1;
  while (bits < 31 && (max_key >> bits) > 0) {
    ++bits;
  }
  std::size_t bytes = 0;
  const auto sort = [&](void* memory) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values, count, 0,
                                           bits, executor.stream());
  };
  check(sort(nullptr), "sizing a sort");
  const auto memory = executor.allocate(bytes);
  check(sort(memory.get()), "launching a sort");
}

}  // namespace gnomon::kernels::cuda
