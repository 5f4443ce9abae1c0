#include "kernels/autograd/sparse.h"

#include "kernels/autograd/parallel.h"
#include "kernels/cpu/sparse.h"

namespace gnomon::kernels::autograd {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

/// Refuses a tensor that is not float32 on the CPU with the given sizes (-1: any).
void check(const Tensor& tensor, const char* name, const std::vector<std::int64_t>& sizes) {
  TORCH_CHECK(tensor.defined(), name, " is not defined");
  TORCH_CHECK(tensor.device().is_cpu(), name, " is on ", tensor.device(), "; it must be on the CPU");
  TORCH_CHECK(tensor.scalar_type() == torch::kFloat32, name, " is ", tensor.scalar_type(),
              "; it must be float32");
  bool fits = tensor.dim() == static_cast<std::int64_t>(sizes.size());
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] == -1 || tensor.size(static_cast<std::int64_t>(i)) == sizes[i];
  }
  TORCH_CHECK(fits, name, " has the shape ", tensor.sizes(), "; the block wants ", sizes, " (-1: any)");
}

std::span<const float> values_of(const Tensor& tensor) {
  return tensor.defined()
             ? std::span(tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel()))
             : std::span<const float>();
}
std::span<float> values_of(Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// Carries the block through autograd's context, which holds tensors and such objects only.
struct SavedBlock : torch::CustomClassHolder {
  explicit SavedBlock(SparseBlockPtr saved) : block(std::move(saved)) {}
  SparseBlockPtr block;
};

Tensor spmm(const cpu::SparseRows& rows, const Tensor& row_scale, const Tensor& column_scale,
            const Tensor& x) {
  const std::int64_t width = x.size(1);
  Tensor y = torch::empty({rows.num_rows(), width}, x.options());
  const cpu::Scales scales{values_of(row_scale), values_of(column_scale)};
  for_row_ranges(rows, width, [&](cpu::RowRange range) {
    cpu::spmm(rows, range, scales, values_of(x), width, values_of(y));
  });
  return y;
}

Tensor spmm_by_weights(const cpu::SparseRows& rows, const Tensor& weights, const Tensor& x) {
  const cpu::Heads heads{x.size(1), x.size(2)};
  Tensor y = torch::empty({rows.num_rows(), heads.count, heads.width}, x.options());
  for_row_ranges(rows, heads.count * heads.width, [&](cpu::RowRange range) {
    cpu::spmm_weighted(rows, range, heads, values_of(weights), values_of(x), values_of(y));
  });
  return y;
}

Tensor dots(const cpu::SparseRows& rows, const Tensor& row_values, const Tensor& column_values) {
  const cpu::Heads heads{row_values.size(1), row_values.size(2)};
  Tensor y = torch::empty({rows.num_entries(), heads.count}, row_values.options());
  for_row_ranges(rows, heads.count * heads.width, [&](cpu::RowRange range) {
    cpu::sddmm_dot(rows, range, heads, values_of(row_values), values_of(column_values), values_of(y));
  });
  return y;
}

Tensor edge_sums(const cpu::SparseRows& rows, const Tensor& values) {
  Tensor y = torch::empty({rows.num_rows(), values.size(1)}, values.options());
  for_row_ranges(rows, values.size(1), [&](cpu::RowRange range) {
    cpu::sum_edges(rows, range, values.size(1), values_of(values), values_of(y));
  });
  return y;
}

/// Constants of an SpMM; a tensor that is not defined stands for ones.
struct Scaling {
  Tensor destinations;
  Tensor sources;
};

/// Sum, mean and scaled sum.
struct ScaledFunction : Function<ScaledFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const SparseBlockPtr& block,
                        const Scaling& scaling) {
    save_block(context, block);
    context->save_for_backward({scaling.destinations, scaling.sources});
    return spmm(block->by_destination(), scaling.destinations, scaling.sources, x.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const auto scales = context->get_saved_variables();
    return {spmm(block->by_source(), scales[1], scales[0], gradients[0].contiguous()), {}, {}};
  }
};

struct WeightedFunction : Function<WeightedFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weights,
                        const SparseBlockPtr& block) {
    save_block(context, block);
    context->save_for_backward({x, weights});
    return spmm_by_weights(block->by_destination(), weights.contiguous(), x.contiguous());
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const auto saved = context->get_saved_variables();
    const Tensor gradient = gradients[0].contiguous();
    Tensor x_gradient;
    if (context->needs_input_grad(0)) {
      x_gradient = spmm_by_weights(block->by_source(), saved[1].contiguous(), gradient);
    }
    Tensor weights_gradient;
    if (context->needs_input_grad(1)) {
      weights_gradient = dots(block->by_destination(), gradient, saved[0].contiguous());
    }
    return {x_gradient, weights_gradient, {}};
  }
};

struct AddFunction : Function<AddFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& destination_scores,
                        const Tensor& source_scores, const SparseBlockPtr& block) {
    save_block(context, block);
    const auto rows = block->by_destination();
    const Tensor left = destination_scores.contiguous();
    const Tensor right = source_scores.contiguous();
    Tensor y = torch::empty({rows.num_entries(), left.size(1)}, left.options());
    for_row_ranges(rows, left.size(1), [&](cpu::RowRange range) {
      cpu::sddmm_add(rows, range, left.size(1), values_of(left), values_of(right), values_of(y));
    });
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto block = saved_block(context);
    const Tensor gradient = gradients[0].contiguous();
    return {edge_sums(block->by_destination(), gradient), edge_sums(block->by_source(), gradient), {}};
  }
};

struct SoftmaxFunction : Function<SoftmaxFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& logits, const SparseBlockPtr& block) {
    save_block(context, block);
    const auto rows = block->by_destination();
    const Tensor input = logits.contiguous();
    Tensor y = torch::empty_like(input);
    for_row_ranges(rows, 8 * input.size(1), [&](cpu::RowRange range) {
      cpu::edge_softmax(rows, range, input.size(1), values_of(input), values_of(y));
    });
    context->save_for_backward({y});
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto rows = saved_block(context)->by_destination();
    const Tensor softmax = context->get_saved_variables()[0];
    const Tensor gradient = gradients[0].contiguous();
    Tensor y = torch::empty_like(softmax);
    for_row_ranges(rows, 2 * softmax.size(1), [&](cpu::RowRange range) {
      cpu::edge_softmax_backward(rows, range, softmax.size(1), values_of(softmax), values_of(gradient),
                                 values_of(y));
    });
    return {y, {}};
  }
};

}  // namespace

void save_block(AutogradContext* context, const SparseBlockPtr& block) {
  context->saved_data["block"] = torch::IValue::make_capsule(c10::make_intrusive<SavedBlock>(block));
}

SparseBlockPtr saved_block(AutogradContext* context) {
  TORCH_CHECK(!torch::GradMode::is_enabled(),
              "gradients of the sparse operations cannot be differentiated again (create_graph)");
  return c10::static_intrusive_pointer_cast<SavedBlock>(context->saved_data["block"].toCapsule())->block;
}

Tensor spmm_sum(const SparseBlockPtr& block, const Tensor& x) {
  check(x, "x", {block->num_sources(), -1});
  return ScaledFunction::apply(x, block, Scaling{});
}

Tensor spmm_mean(const SparseBlockPtr& block, const Tensor& x) {
  check(x, "x", {block->num_sources(), -1});
  return ScaledFunction::apply(x, block, Scaling{inverse_degrees(*block), {}});
}

Tensor spmm_mean_gradient(const SparseBlockPtr& block, const Tensor& gradient) {
  check(gradient, "gradient", {block->num_destinations(), -1});
  return spmm(block->by_source(), {}, inverse_degrees(*block), gradient.contiguous());
}

Tensor spmm_scaled(const SparseBlockPtr& block, const Tensor& x, const Tensor& destination_scale,
                   const Tensor& source_scale) {
  check(x, "x", {block->num_sources(), -1});
  check(destination_scale, "destination_scale", {block->num_destinations()});
  check(source_scale, "source_scale", {block->num_sources()});
  TORCH_CHECK(!destination_scale.requires_grad() && !source_scale.requires_grad(),
              "the scales get no gradient and must not require one");
  return ScaledFunction::apply(x, block, Scaling{destination_scale.contiguous(), source_scale.contiguous()});
}

Tensor spmm_weighted(const SparseBlockPtr& block, const Tensor& x, const Tensor& weights) {
  check(x, "x", {block->num_sources(), -1, -1});
  check(weights, "weights", {block->num_edges(), x.size(1)});
  return WeightedFunction::apply(x, weights, block);
}

Tensor sddmm_add(const SparseBlockPtr& block, const Tensor& destination_scores, const Tensor& source_scores) {
  check(destination_scores, "destination_scores", {block->num_destinations(), -1});
  check(source_scores, "source_scores", {block->num_sources(), destination_scores.size(1)});
  return AddFunction::apply(destination_scores, source_scores, block);
}

Tensor edge_softmax(const SparseBlockPtr& block, const Tensor& logits) {
  check(logits, "logits", {block->num_edges(), -1});
  return SoftmaxFunction::apply(logits, block);
}

}  // namespace gnomon::kernels::autograd
