#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/device/sparse.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// Returns a tensor's elements, or null, which stands for ones, if it is undefined.
inline const float* values(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

/// Returns a block's rows, which are its destinations.
inline kernels::device::SparseRows device_rows(const SparseBlock& block) {
  return {block.num_destinations(),
          block.num_edges(),
          block.indptr().const_data_ptr<std::int64_t>(),
          block.indices().const_data_ptr<std::int32_t>(),
          nullptr,
          block.max_in_degree()};
}

}  // namespace gnomon::nn
