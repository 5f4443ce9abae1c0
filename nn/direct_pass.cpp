#include "nn/direct_pass.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "nn/dense/dense.h"
#include "nn/dense/gemm.h"
#include "nn/dense/products.h"
#include "nn/dense/sage_product.h"

namespace gnomon::nn {
namespace {

using Weights = std::vector<at::Tensor>;

/// How a layer is computed.
enum class Form {
  joint,       ///< GraphSAGE as one product: own rows beside means, times both weights, plus bias
  aggregated,  ///< GCN: aggregated rows times weight, plus bias
  projected    ///< GCN: aggregated products of rows and weight, plus bias
};

Form form_of(const Hop& hop, const Weights& weights) {
  constexpr std::size_t of_sage = 3;  // of_self, of_neighbours, bias
  if (weights.size() == of_sage) {
    return Form::joint;
  }
  return aggregates_first(hop, weights[0].size(0), weights[0].size(1)) ? Form::aggregated : Form::projected;
}

/// GCN's propagation along a hop, and its gradient with respect to x.
at::Tensor propagate(const Hop& hop, const at::Tensor& x) {
  return hop.block->kernels().gcn_propagate(*hop.block, hop.degrees.contiguous(), x);
}
at::Tensor propagate_gradient(const Hop& hop, const at::Tensor& gradient) {
  return hop.block->kernels().gcn_propagate_gradient(*hop.block, hop.degrees.contiguous(), gradient);
}

/// The operand of a layer's product, from its inputs.
at::Tensor operand_of(Form form, const Hop& hop, const at::Tensor& x) {
  switch (form) {
    case Form::joint:
      return hop.block->kernels().own_and_mean(*hop.block, x);
    case Form::aggregated:
      return propagate(hop, x);
    case Form::projected:
      break;
  }
  return x;
}

/// That of the first layer.
at::Tensor first_operand(Form form, const Hop& hop, const TensorBatch& batch,
                         const kernels::DropoutRule& rule) {
  if (batch.features.defined()) {
    return operand_of(form, hop, dense::dropout_of_features(batch.features, rule).contiguous());
  }
  return form == Form::joint ? batch.stored->own_and_mean(*hop.block, rule)
                             : batch.stored->gcn_propagate(*hop.block, hop.degrees.contiguous(), rule);
}

at::Tensor output_of(Form form, const Hop& hop, const Weights& weights, const at::Tensor& operand) {
  if (form == Form::joint) {
    return joint_product(operand, weights[0], weights[2]);
  }
  const auto& [weight, bias] = std::tie(weights[0], weights[1]);
  if (form == Form::projected) {
    return propagate(hop, product(operand, weight)) + bias;
  }
  auto out = at::empty({operand.size(0), weight.size(1)}, operand.options());
  gemm_plus_row(out, operand, weight, bias);
  return out;
}

/// Sets the gradients of a layer's weights, given that of its output before the activation. Returns what
/// input_gradient_of() starts from.
at::Tensor set_gradients(Form form, const Hop& hop, const Weights& weights, const at::Tensor& operand,
                         const at::Tensor& gradient) {
  if (form == Form::joint) {
    const auto gradients = joint_gradients(operand, gradient);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      weights[i].mutable_grad() = gradients.at(i);
    }
    return gradient;
  }
  const auto of_product = form == Form::aggregated ? gradient : propagate_gradient(hop, gradient);
  weights[0].mutable_grad() = transposed_product(operand, of_product);
  weights[1].mutable_grad() = column_sums(gradient);
  return of_product;
}

/// The gradient of a layer's inputs, given that of its product.
at::Tensor input_gradient_of(Form form, const Hop& hop, const Weights& weights,
                             const at::Tensor& of_product) {
  if (form == Form::joint) {
    return joint_input_gradient(*hop.block, weights[0], of_product);
  }
  const auto of_operand = product(of_product, weights[0].t());
  return form == Form::projected ? of_operand : propagate_gradient(hop, of_operand);
}

}  // namespace

bool DirectPass::can_run(const Model& model, const TensorBatch& batch) {
  const bool is_sage = model.is_plain(plan::ModelKind::sage);
  if ((!is_sage && !model.is_plain(plan::ModelKind::gcn)) || model.device().is_cpu() ||
      batch.reused != nullptr || batch.sparse.defined()) {
    return false;
  }
  for (std::size_t i = 0; i < model.num_layers(); ++i) {
    const auto& weights = model.layer(i).parameters();
    const auto hop = model.hop_of(batch, i);
    const bool aggregates = aggregates_first(hop, weights[0].size(0), weights[0].size(1));
    const bool reads_stored = i == 0 && !batch.features.defined();
    if (hop.block->destinations().defined() || ((is_sage || reads_stored) && !aggregates) ||
        (is_sage && !is_one_product(*hop.block, weights[0], weights[1]))) {
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
    Step step{model.hop_of(batch, i), {}, {}};
    const auto form = form_of(step.hop, weights);
    step.operand = i == 0 ? first_operand(form, step.hop, batch, dropout.of_layer(0).inputs())
                          : operand_of(form, step.hop, steps_.back().output);
    step.output = output_of(form, step.hop, weights, step.operand);
    if (i + 1 < model.num_layers()) {
      step.output = dense::relu_dropout(step.output, dropout.of_layer(i + 1).inputs());
    }
    steps_.push_back(std::move(step));
  }
}

void DirectPass::compute_gradients(const at::Tensor& gradient) const {
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  auto of_output = gradient.contiguous();
  for (std::size_t i = model_.num_layers(); i-- > 0;) {
    const auto& weights = model_.layer(i).parameters();
    const auto& step = steps_[i];
    const auto form = form_of(step.hop, weights);
    const auto of_product = set_gradients(form, step.hop, weights, step.operand, of_output);
    if (i > 0) {
      of_output = dense::relu_dropout_gradient(dropout_.of_layer(i).inputs().scale(), steps_[i - 1].output,
                                               input_gradient_of(form, step.hop, weights, of_product));
    }
  }
}

}  // namespace gnomon::nn
