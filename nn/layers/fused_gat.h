#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "nn/sparse/gat_kernels.h"

/// The layers of GAT in training on a device: a few fused operations instead of several of LibTorch each
/// (kernels/device/gat.h). The results equal those of the separate operations up to rounding, with the same
/// elements dropped.
namespace gnomon::nn {

/// A layer whose joint weight is ready.
struct FusedGat {
  GatAttentionSpec attention;
  at::Tensor joint_weight;  ///< differentiable

  /// Whether outputs come after the activation and the dropout of the next layer's inputs.
  bool has_activation() const { return attention.activation.is_elu; }
};

/// Whether sampled blocks can be used: those of a device, whose rows are short enough for one index of a
/// kernel each.
bool can_fuse_gat(const std::vector<SparseBlockPtr>& blocks);

/// A layer to be fused, its block, and the dropout of its coefficients and its outputs.
struct GatToFuse {
  GatParameters parameters;
  SparseBlockPtr block;
  kernels::DropoutRule coefficients;
  std::optional<kernels::DropoutRule> outputs;  ///< none: the activation is not part of the layer
};

/// Prepares all layers of a model by one launch, and their backward passes by two. Precondition:
/// can_fuse_gat(blocks of the layers).
std::vector<FusedGat> fuse_gat(const std::vector<GatToFuse>& layers);

/// Returns a layer's outputs (destinations, heads · width), given the product of its inputs with the joint
/// weight. Differentiable.
at::Tensor attend(const FusedGat& layer, const at::Tensor& projection, const at::Tensor& bias);

}  // namespace gnomon::nn
