#include "nn/direct_pass.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>

#include <cstddef>

#include "nn/dense/dense.h"
#include "nn/dense/sage_product.h"

namespace gnomon::nn {
namespace {

enum Parameter : std::size_t { of_self, of_neighbours, bias };

/// The operand of the first layer's product.
at::Tensor first_operand(const TensorBatch& batch, const SparseBlock& block,
                         const kernels::DropoutRule& rule) {
  if (!batch.features.defined()) {
    return batch.stored->own_and_mean(block, rule);
  }
  return block.kernels().own_and_mean(block, dense::dropout_of_features(batch.features, rule).contiguous());
}

}  // namespace

bool DirectPass::can_run(const Model& model, const TensorBatch& batch) {
  if (!model.is_plain_sage() || batch.reused != nullptr || batch.sparse.defined()) {
    return false;
  }
  for (std::size_t i = 0; i < model.num_layers(); ++i) {
    const auto& weights = model.layer(i).parameters();
    const auto hop = model.hop_of(batch, i);
    if (!is_one_product(*hop.block, weights[of_self], weights[of_neighbours]) ||
        !aggregates_first(hop, weights[of_self].size(0), weights[of_self].size(1))) {
      return false;
    }
  }
  return true;
}

DirectPass::DirectPass(const Model& model, const TensorBatch& batch, const DropoutSpec& dropout)
    : model_(model), dropout_(dropout) {
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  for (std::size_t i = 0; i < model.num_layers(); ++i) {
    const auto& weights = model.layer(i).parameters();
    const auto& block = blocks_.emplace_back(model.hop_of(batch, i).block);
    operands_.push_back(i == 0 ? first_operand(batch, *block, dropout.of_layer(0).inputs())
                               : block->kernels().own_and_mean(*block, outputs_.back()));
    auto out = joint_product(operands_.back(), weights[of_self], weights[bias]);
    const bool is_last = i + 1 == model.num_layers();
    outputs_.push_back(is_last ? out : dense::relu_dropout(out, dropout.of_layer(i + 1).inputs()));
  }
}

void DirectPass::compute_gradients(const at::Tensor& gradient) const {
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  auto of_output = gradient.contiguous();
  for (std::size_t i = model_.num_layers(); i-- > 0;) {
    const auto& weights = model_.layer(i).parameters();
    const auto gradients = joint_gradients(operands_[i], of_output);
    for (const auto parameter : {of_self, of_neighbours, bias}) {
      weights[parameter].mutable_grad() = gradients.at(parameter);
    }
    if (i > 0) {
      of_output =
          dense::relu_dropout_gradient(dropout_.of_layer(i).inputs().scale(), outputs_[i - 1],
                                       joint_input_gradient(*blocks_[i], weights[of_self], of_output));
    }
  }
}

}  // namespace gnomon::nn
