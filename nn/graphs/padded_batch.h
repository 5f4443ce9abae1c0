#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "kernels/device/step_state.h"
#include "nn/graphs/batch_shape.h"
#include "nn/tensor_batch.h"

namespace gnomon::nn {

/// A mini-batch of fixed shape at a fixed address in a GPU's memory, into which smaller ones are copied. The
/// remaining seeds, vertices and edges are padding: padded vertices have no edges, degree 0 and features of
/// zeros; only the first state()->seeds seeds count in the loss. With kernels that skip padded edges, each
/// row of a layer equals that of the unpadded mini-batch, up to rounding.
class PaddedBatch {
 public:
  /// Allocates a batch of shape `room`, with the types, columns and bounds of in-degrees of `like`.
  PaddedBatch(const BatchShape& room, const TensorBatch& like);

  /// Copies a mini-batch that fits, and sets the state, by one launch on the current stream.
  void fill(const TensorBatch& batch, const kernels::device::StepState& state);

  /// The padded batch. Its blocks are transposed at first use.
  TensorBatch tensors() const;
  /// The state, in the GPU's memory.
  const kernels::device::StepState* state() const;
  /// Members of the state as tensors.
  at::Tensor learning_rate() const { return member(offsetof(kernels::device::StepState, learning_rate)); }
  at::Tensor adam_step() const { return member(offsetof(kernels::device::StepState, adam_step)); }

 private:
  at::Tensor member(std::size_t offset) const;

  TensorBatch batch_;  ///< its blocks lend their arrays only
  at::Tensor state_;   ///< the bytes of a StepState
};

}  // namespace gnomon::nn
