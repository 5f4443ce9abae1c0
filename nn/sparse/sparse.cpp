#include "nn/sparse/sparse.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace gnomon::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

/// Throws c10::Error unless a tensor is float32, on the block's device, and has these sizes (-1 for any).
void check(const SparseBlock& block, const Tensor& tensor, const char* name,
           const std::vector<std::int64_t>& sizes) {
  TORCH_CHECK(tensor.defined(), name, " is not defined");
  TORCH_CHECK(tensor.device() == block.device(), name, " is on ", tensor.device(), "; the block is on ",
              block.device());
  TORCH_CHECK(tensor.scalar_type() == at::kFloat, name, " is ", tensor.scalar_type(), "; it must be float32");
  bool fits = tensor.dim() == static_cast<std::int64_t>(sizes.size());
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] == -1 || tensor.size(static_cast<std::int64_t>(i)) == sizes[i];
  }
  TORCH_CHECK(fits, name, " has shape ", tensor.sizes(), "; the block requires ", sizes, " (-1: any)");
}

/// Wraps a value for autograd's context, which stores only tensors and custom class holders.
template <class T>
struct Saved : torch::CustomClassHolder {
  explicit Saved(T saved) : value(std::move(saved)) {}
  T value;
};

template <class T>
void save(AutogradContext* context, const char* name, const T& value) {
  context->saved_data[name] = c10::IValue::make_capsule(c10::make_intrusive<Saved<T>>(value));
}

template <class T>
T saved(AutogradContext* context, const char* name) {
  TORCH_CHECK(!at::GradMode::is_enabled(),
              "gradients of the sparse operations cannot be differentiated again (create_graph)");
  return c10::static_intrusive_pointer_cast<Saved<T>>(context->saved_data[name].toCapsule())->value;
}

/// Throws c10::Error unless the rows can be those of the block's sources.
void check(const SparseBlock& block, const DroppedFeatures& x) {
  TORCH_CHECK(x.rows->device() == block.device(), "x is on ", x.rows->device(), "; the block is on ",
              block.device());
  TORCH_CHECK(x.size(0) >= block.num_sources(), "x has ", x.size(0), " rows; the block has ",
              block.num_sources(), " sources");
}

void check_scales(const SparseBlock& block, const Tensor& destination_scale, const Tensor& source_scale) {
  check(block, destination_scale, "destination_scale", {block.num_destinations()});
  check(block, source_scale, "source_scale", {block.num_sources()});
  TORCH_CHECK(!destination_scale.requires_grad() && !source_scale.requires_grad(),
              "the scales must not require a gradient");
}

void check_degrees(const SparseBlock& block, const Tensor& degrees) {
  check(block, degrees, "degrees", {block.num_sources()});
  TORCH_CHECK(!degrees.requires_grad(), "the degrees must not require a gradient");
  TORCH_CHECK(!block.destinations().defined(), "destinations must be the first sources");
}

/// The scales of an SpMM; an undefined tensor stands for ones.
struct Scaling {
  Tensor destinations;
  Tensor sources;
};

/// SpMM for sum, mean and scaled sum.
struct ScaledFunction : Function<ScaledFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const SparseBlockPtr& block,
                        const Scaling& scaling) {
    save_block(context, block);
    context->save_for_backward({scaling.destinations, scaling.sources});
    return block->kernels().spmm(*block, RowsOf::destinations, scaling.destinations, scaling.sources,
                                 x.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const auto scales = context->get_saved_variables();
    return {block->kernels().spmm(*block, RowsOf::sources, scales[1], scales[0], gradients[0].contiguous()),
            {},
            {}};
  }
};

struct GcnFunction : Function<GcnFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const SparseBlockPtr& block,
                        const Tensor& degrees) {
    save_block(context, block);
    context->save_for_backward({degrees});
    return block->kernels().gcn_propagate(*block, degrees, x.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const auto degrees = context->get_saved_variables()[0];
    return {block->kernels().gcn_propagate_gradient(*block, degrees, gradients[0].contiguous()), {}, {}};
  }
};

struct WeightedFunction : Function<WeightedFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weights,
                        const SparseBlockPtr& block) {
    save_block(context, block);
    context->save_for_backward({x, weights});
    return block->kernels().spmm_weighted(*block, RowsOf::destinations, weights.contiguous(), x.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const auto saved = context->get_saved_variables();
    const Tensor gradient = gradients[0].contiguous();
    Tensor x_gradient;
    if (context->needs_input_grad(0)) {
      x_gradient = block->kernels().spmm_weighted(*block, RowsOf::sources, saved[1].contiguous(), gradient);
    }
    Tensor weights_gradient;
    if (context->needs_input_grad(1)) {
      weights_gradient = block->kernels().sddmm_dot(*block, gradient, saved[0].contiguous());
    }
    return {x_gradient, weights_gradient, {}};
  }
};

struct AddFunction : Function<AddFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& destination_scores,
                        const Tensor& source_scores, const SparseBlockPtr& block) {
    save_block(context, block);
    return block->kernels().sddmm_add(*block, destination_scores.contiguous(), source_scores.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const Tensor gradient = gradients[0].contiguous();
    return {block->kernels().sum_edges(*block, RowsOf::destinations, gradient),
            block->kernels().sum_edges(*block, RowsOf::sources, gradient),
            {}};
  }
};

struct SoftmaxFunction : Function<SoftmaxFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& logits, const SparseBlockPtr& block) {
    save_block(context, block);
    Tensor y = block->kernels().edge_softmax(*block, logits.contiguous());
    context->save_for_backward({y});
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const Tensor softmax = context->get_saved_variables()[0];
    return {block->kernels().edge_softmax_backward(*block, softmax, gradients[0].contiguous()), {}};
  }
};

}  // namespace

void save_block(AutogradContext* context, const SparseBlockPtr& block) { save(context, "block", block); }

SparseBlockPtr saved_block(AutogradContext* context) { return saved<SparseBlockPtr>(context, "block"); }

void save_rows(AutogradContext* context, const DroppedFeatures& rows) { save(context, "rows", rows); }

DroppedFeatures saved_rows(AutogradContext* context) { return saved<DroppedFeatures>(context, "rows"); }

Tensor spmm_sum(const SparseBlockPtr& block, const Tensor& x) {
  check(*block, x, "x", {block->num_sources(), -1});
  return ScaledFunction::apply(x, block, Scaling{});
}

Tensor spmm_mean(const SparseBlockPtr& block, const Tensor& x) {
  check(*block, x, "x", {block->num_sources(), -1});
  return ScaledFunction::apply(x, block, Scaling{block->kernels().inverse_degrees(*block), {}});
}

Tensor spmm_mean(const SparseBlockPtr& block, const DroppedFeatures& x) {
  check(*block, x);
  return x.rows->spmm(*block, block->kernels().inverse_degrees(*block), {}, x.rule);
}

Tensor spmm_mean_gradient(const SparseBlockPtr& block, const Tensor& gradient) {
  check(*block, gradient, "gradient", {block->num_destinations(), -1});
  return block->kernels().spmm(*block, RowsOf::sources, {}, block->kernels().inverse_degrees(*block),
                               gradient.contiguous());
}

Tensor spmm_scaled(const SparseBlockPtr& block, const Tensor& x, const Tensor& destination_scale,
                   const Tensor& source_scale) {
  check(*block, x, "x", {block->num_sources(), -1});
  check_scales(*block, destination_scale, source_scale);
  return ScaledFunction::apply(x, block, Scaling{destination_scale.contiguous(), source_scale.contiguous()});
}

Tensor spmm_scaled(const SparseBlockPtr& block, const DroppedFeatures& x, const Tensor& destination_scale,
                   const Tensor& source_scale) {
  check(*block, x);
  check_scales(*block, destination_scale, source_scale);
  return x.rows->spmm(*block, destination_scale.contiguous(), source_scale.contiguous(), x.rule);
}

Tensor gcn_propagate(const SparseBlockPtr& block, const Tensor& x, const Tensor& degrees) {
  check(*block, x, "x", {block->num_sources(), -1});
  check_degrees(*block, degrees);
  return GcnFunction::apply(x, block, degrees.contiguous());
}

Tensor gcn_propagate(const SparseBlockPtr& block, const DroppedFeatures& x, const Tensor& degrees) {
  check(*block, x);
  check_degrees(*block, degrees);
  return x.rows->gcn_propagate(*block, degrees.contiguous(), x.rule);
}

Tensor spmm_weighted(const SparseBlockPtr& block, const Tensor& x, const Tensor& weights) {
  check(*block, x, "x", {block->num_sources(), -1, -1});
  check(*block, weights, "weights", {block->num_edges(), x.size(1)});
  return WeightedFunction::apply(x, weights, block);
}

Tensor sddmm_add(const SparseBlockPtr& block, const Tensor& destination_scores, const Tensor& source_scores) {
  check(*block, destination_scores, "destination_scores", {block->num_destinations(), -1});
  check(*block, source_scores, "source_scores", {block->num_sources(), destination_scores.size(1)});
  return AddFunction::apply(destination_scores, source_scores, block);
}

Tensor edge_softmax(const SparseBlockPtr& block, const Tensor& logits) {
  check(*block, logits, "logits", {block->num_edges(), -1});
  return SoftmaxFunction::apply(logits, block);
}

}  // namespace gnomon::nn
