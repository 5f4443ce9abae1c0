#include "nn/dense/sage_product.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "nn/dense/chunks.h"
#include "nn/dense/gemm.h"
#include "nn/dense/products.h"

namespace gnomon::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Returns self · of_self + mean · of_neighbours + bias.
at::Tensor sum_of_products(const at::Tensor& self, const at::Tensor& mean, const at::Tensor& of_self,
                           const at::Tensor& of_neighbours, const at::Tensor& bias) {
  const std::int64_t rows = mean.size(0);
  auto out = at::empty({rows, bias.size(0)}, bias.options());
  for_each_chunk(rows, rows_per_chunk(mean.device(), rows), [&](std::int64_t begin, std::int64_t length) {
    auto chunk = out.narrow(0, begin, length);
    gemm_plus_row(chunk, self.narrow(0, begin, length), of_self, bias);
    gemm_accumulate(chunk, mean.narrow(0, begin, length), of_neighbours);
  });
  return out;
}

/// Adds a · b to the first rows of x.
void add_to_first_rows(const at::Tensor& x, const at::Tensor& a, const at::Tensor& b) {
  for_each_chunk(a.size(0), rows_per_chunk(a.device(), a.size(0)),
                 [&](std::int64_t begin, std::int64_t length) {
                   auto chunk = x.narrow(0, begin, length);
                   gemm_accumulate(chunk, a.narrow(0, begin, length), b);
                 });
}

/// Computes the layer, and saves the operands `self` and `mean` for the weights' gradients.
at::Tensor forward_of(AutogradContext* context, const at::Tensor& self, const at::Tensor& mean,
                      const at::Tensor& of_self, const at::Tensor& of_neighbours, const at::Tensor& bias) {
  const GemmOperands operands(of_self);
  const auto self_operand = operands.of(self);
  const auto mean_operand = operands.of(mean);
  context->save_for_backward({self_operand, mean_operand, of_self, of_neighbours});
  return sum_of_products(self_operand, mean_operand, operands.of(of_self), operands.of(of_neighbours), bias);
}

/// Returns the gradients of the weights and the bias. `operand` is `gradient` as a GEMM operand.
tensor_list gradients_of_weights(const at::Tensor& self, const at::Tensor& mean, const at::Tensor& gradient,
                                 const at::Tensor& operand) {
  return {transposed_product(self, operand), transposed_product(mean, operand), column_sums(gradient)};
}

/// The matrix of two weights that are adjacent in memory.
at::Tensor joint(const at::Tensor& of_self) {
  return of_self.as_strided({2 * of_self.size(0), of_self.size(1)}, {of_self.size(1), 1});
}

at::Tensor saved_product(AutogradContext* context, const at::Tensor& own_and_mean, const at::Tensor& of_self,
                         const at::Tensor& bias) {
  context->save_for_backward({own_and_mean, of_self});
  return joint_product(own_and_mean, of_self, bias);
}

struct JointSageProduct : torch::autograd::Function<JointSageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& of_self,
                            const at::Tensor&, const at::Tensor& bias, const SparseBlockPtr& block) {
    save_block(context, block);
    return saved_product(context, block->kernels().own_and_mean(*block, x), of_self, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto block = saved_block(context);
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    at::Tensor grad_x;
    if (context->needs_input_grad(0)) {
      grad_x = joint_input_gradient(*block, saved[1], gradient);
    }
    const auto [self, neighbours, bias] = joint_gradients(saved[0], gradient);
    return {grad_x, self, neighbours, bias, {}};
  }
};

/// The layer on stored rows, which get no gradient.
struct JointStoredSageProduct : torch::autograd::Function<JointStoredSageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& of_self, const at::Tensor&,
                            const at::Tensor& bias, const at::Tensor& own_and_mean) {
    return saved_product(context, own_and_mean, of_self, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto [self, neighbours, bias] =
        joint_gradients(context->get_saved_variables()[0], gradients[0].contiguous());
    return {self, neighbours, bias, {}};
  }
};

struct SageProduct : torch::autograd::Function<SageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& of_self,
                            const at::Tensor& of_neighbours, const at::Tensor& bias,
                            const SparseBlockPtr& block) {
    save_block(context, block);
    return forward_of(context, destinations_of(x, *block), spmm_mean(block, x), of_self, of_neighbours, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto block = saved_block(context);
    const auto saved = context->get_saved_variables();
    const auto& [self, mean, of_self, of_neighbours] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const auto gradient = gradients[0].contiguous();
    const GemmOperands operands(of_self);
    const auto operand = operands.of(gradient);
    at::Tensor grad_x;
    if (context->needs_input_grad(0)) {
      TORCH_CHECK(!block->destinations().defined(), "destinations can be chosen in evaluation only");
      grad_x = spmm_mean_gradient(block, product(operand, operands.of(of_neighbours).t()));
      add_to_first_rows(grad_x, operand, operands.of(of_self).t());
    }
    auto all = gradients_of_weights(self, mean, gradient, operand);
    all.insert(all.begin(), grad_x);
    all.emplace_back();
    return all;
  }
};

/// The layer on stored rows, which get no gradient.
struct StoredSageProduct : torch::autograd::Function<StoredSageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& of_self,
                            const at::Tensor& of_neighbours, const at::Tensor& bias, const at::Tensor& self,
                            const at::Tensor& mean) {
    return forward_of(context, self, mean, of_self, of_neighbours, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    auto all = gradients_of_weights(saved[0], saved[1], gradient, GemmOperands(saved[2]).of(gradient));
    all.resize(5);
    return all;
  }
};

}  // namespace

/// Not used in evaluation, where blocks may have arbitrary destinations and all vertices, and the joint
/// operand would be twice as large.
bool is_one_product(const SparseBlock& block, const at::Tensor& of_self, const at::Tensor& of_neighbours) {
  return at::GradMode::is_enabled() && !block.destinations().defined() &&
         of_self.is_alias_of(of_neighbours) && of_self.is_contiguous() && of_neighbours.is_contiguous() &&
         of_neighbours.storage_offset() == of_self.storage_offset() + of_self.numel();
}

at::Tensor joint_product(const at::Tensor& own_and_mean, const at::Tensor& of_self, const at::Tensor& bias) {
  auto out = at::empty({own_and_mean.size(0), bias.size(0)}, bias.options());
  gemm_plus_row(out, own_and_mean, joint(of_self), bias);
  return out;
}

std::array<at::Tensor, 3> joint_gradients(const at::Tensor& own_and_mean, const at::Tensor& gradient) {
  const auto of_both = transposed_product(own_and_mean, gradient);
  const auto rows = of_both.size(0) / 2;
  return {of_both.narrow(0, 0, rows), of_both.narrow(0, rows, rows), column_sums(gradient)};
}

at::Tensor joint_input_gradient(const SparseBlock& block, const at::Tensor& of_self,
                                const at::Tensor& gradient) {
  return block.kernels().own_and_mean_gradient(block, product(gradient, joint(of_self).t()));
}

at::Tensor sage_product(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias) {
  if (is_one_product(*block, of_self, of_neighbours)) {
    return JointSageProduct::apply(x.contiguous(), of_self, of_neighbours, bias, block);
  }
  return SageProduct::apply(x.contiguous(), of_self, of_neighbours, bias, block);
}

at::Tensor sage_product(const SparseBlockPtr& block, const DroppedFeatures& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias) {
  if (is_one_product(*block, of_self, of_neighbours)) {
    return JointStoredSageProduct::apply(of_self, of_neighbours, bias, x.rows->own_and_mean(*block, x.rule));
  }
  return StoredSageProduct::apply(of_self, of_neighbours, bias, destinations_of(x, *block),
                                  spmm_mean(block, x));
}

at::Tensor destinations_of(const at::Tensor& x, const SparseBlock& block) {
  return block.destinations().defined() ? x.index_select(0, block.destinations())
                                        : x.narrow(0, 0, block.num_destinations());
}

at::Tensor destinations_of(const DroppedFeatures& x, const SparseBlock& block) {
  const auto device = x.rows->device();
  const auto count = block.num_destinations();
  auto out = at::empty({count, x.size(1)}, at::TensorOptions(at::kFloat).device(device));
  for_each_chunk(count, rows_per_chunk(device, count), [&](std::int64_t begin, std::int64_t length) {
    auto chunk = out.narrow(0, begin, length);
    if (block.destinations().defined()) {
      x.rows->read_rows(block.destinations().narrow(0, begin, length), chunk);
    } else {
      x.rows->read(begin, x.rule, chunk);
    }
  });
  return out;
}

}  // namespace gnomon::nn
