#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "kernels/device/gat.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// The parameters of a layer of GAT, as tensors.
struct GatParameters {
  at::Tensor weight;           ///< (inputs, heads · width)
  at::Tensor of_sources;       ///< (heads, width)
  at::Tensor of_destinations;  ///< (heads, width)
};

/// The dropout of a layer's attention coefficients: its rule and the keep mask, kept_bytes() of the
/// coefficients of all edges and self-loops.
struct GatMask {
  kernels::DropoutRule rule;
  at::Tensor bits;  ///< uint8; undefined without dropout
  std::int64_t coefficients = 0;
};

/// The arguments of GatKernels::attend but for the differentiable ones.
struct GatAttentionSpec {
  SparseBlockPtr block;  ///< with loops (grouped_with_loops)
  kernels::device::Heads heads;
  GatMask mask;
  kernels::device::GatActivation activation;
};

/// What attend() returns; kernels/device/gat.h tells what the tensors are.
struct GatResultTensors {
  at::Tensor exponentials, scales, sums, out;
};

/// The kernels of a layer of GAT in training (kernels/device/gat.h) on tensors: contiguous, fp32, of matching
/// shapes and on one device. Not differentiable.
class GatKernels {
 public:
  GatKernels() = default;
  GatKernels(const GatKernels&) = delete;
  GatKernels& operator=(const GatKernels&) = delete;
  virtual ~GatKernels() = default;

  /// Returns the joint weights of all layers, and fills their masks.
  virtual std::vector<at::Tensor> prepare(const std::vector<GatParameters>& layers,
                                          std::vector<GatMask>& masks) const = 0;
  /// Returns the gradients of all layers' parameters, given those of the joint weights.
  virtual std::vector<GatParameters> parameter_gradients(const std::vector<GatParameters>& layers,
                                                         const std::vector<at::Tensor>& gradients) const = 0;
  virtual GatResultTensors attend(const GatAttentionSpec& spec, const at::Tensor& projection,
                                  const at::Tensor& bias) const = 0;
  struct Gradients {
    at::Tensor projection, bias;
  };
  virtual Gradients attend_gradient(const GatAttentionSpec& spec, const at::Tensor& projection,
                                    const GatResultTensors& results, const at::Tensor& gradient) const = 0;
};

}  // namespace gnomon::nn
