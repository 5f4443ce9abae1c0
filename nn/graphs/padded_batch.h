#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "kernels/device/step_state.h"
#include "nn/graphs/batch_shape.h"
#include "nn/tensor_batch.h"

namespace gnomon::nn {

/// A mini-batch of fixed shape and place in a GPU's memory, into which smaller ones are copied. Seeds,
/// vertices and edges beyond those of the mini-batch are padding: vertices have zeros as features and degree,
/// and no edges; the first state()->seeds of the seeds count. With kernels that skip padded edges, each row
/// of a layer is that of the mini-batch alone, up to rounding.
class PaddedBatch {
 public:
  /// Of shape `room`, with the types, columns and bounds of in-degrees of `like`.
  PaddedBatch(const BatchShape& room, const TensorBatch& like);

  /// Copies a mini-batch that fits, and sets the state, by one launch on the current stream.
  void fill(const TensorBatch& batch, const kernels::device::StepState& state);

  /// What is filled, with blocks whose transposes are made when they are asked for the first time.
  TensorBatch tensors() const;
  /// In the GPU's memory.
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
