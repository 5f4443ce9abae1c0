#pragma once

#include <cstdint>
#include <memory>

#include "nn/tensor_batch.h"

namespace gnomon::runtime {

/// A mini-batch where it is trained.
struct DeviceBatch {
  nn::TensorBatch tensors;
  std::int64_t num_vertices = 0;
  std::int64_t num_edges = 0;
  std::int64_t bytes = 0;        ///< what a transfer of it copies
  at::Tensor vertices;           ///< int64, global ids; only of a batch without features
  std::shared_ptr<void> memory;  ///< of the tensors, where they do not own it
};

}  // namespace gnomon::runtime
