#pragma once

#include <ATen/core/Tensor.h>

#include "nn/tensor_batch.h"
#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

/// The upper bound of a block's in-degrees given by the fanout; none for -1.
inline std::int64_t max_in_degree(int fanout) {
  return fanout < 0 ? nn::SparseBlock::unknown_degree : fanout;
}

/// The batch as tensors that share its memory, which must outlive them. Without features if only some of the
/// rows are gathered (BatchData::split).
nn::TensorBatch view_of(const BatchData& data);

/// The global ids of the batch's vertices (int64), sharing its memory, which must outlive the tensor.
at::Tensor ids_of(const BatchData& data);

}  // namespace gnomon::runtime
