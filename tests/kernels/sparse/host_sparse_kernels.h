#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/device/gat-inl.h"
#include "kernels/device/gcn-inl.h"
#include "kernels/device/sparse-inl.h"
#include "nn/sparse/device_sparse_kernels.h"
#include "tests/kernels/host_executor.h"

namespace gnomon::kernels {

/// What device::transpose finds by its executor's type.
inline void sort_by_key(HostExecutor&, std::int32_t, std::int64_t count, const std::int32_t* keys,
                        std::int32_t* sorted_keys, const std::int32_t* values, std::int32_t* sorted_values) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
  for (std::int64_t i = 0; i < count; ++i) {
    sorted_keys[i] = keys[order[static_cast<std::size_t>(i)]];
    sorted_values[i] = values[order[static_cast<std::size_t>(i)]];
  }
}

/// A device's operations run by the host, in another shuffled order each.
struct HostLaunches {
  struct Launch {
    HostExecutor executor;
  };
  int threads = 1;
  std::shared_ptr<std::uint64_t> begun = std::make_shared<std::uint64_t>(0);
  Launch begin(const at::Tensor&) const { return {HostExecutor(threads, ++*begun)}; }
};

/// The device's sparse kernels on the CPU's tensors.
using HostSparseKernels = nn::DeviceSparseKernels<HostLaunches>;

/// The block with those kernels.
inline nn::SparseBlockPtr with_kernels(const nn::SparseBlock& block, const nn::SparseKernels& kernels) {
  return std::make_shared<const nn::SparseBlock>(block.num_sources(), block.indptr(), block.indices(),
                                                 kernels);
}
inline nn::SparseBlockPtr with_kernels(const Block& block, const nn::SparseKernels& kernels) {
  return with_kernels(*nn::sparse_block(std::make_shared<const Block>(block)), kernels);
}

}  // namespace gnomon::kernels
