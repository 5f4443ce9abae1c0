#include "nn/dense/sage_product.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "nn/dense/factors.h"
#include "nn/dense/pieces.h"
#include "nn/dense/products.h"

namespace gnomon::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// self · of_self + mean · of_neighbours + bias.
at::Tensor sum_of_products(const at::Tensor& self, const at::Tensor& mean, const at::Tensor& of_self,
                           const at::Tensor& of_neighbours, const at::Tensor& bias) {
  const std::int64_t rows = mean.size(0);
  auto out = at::empty({rows, bias.size(0)}, bias.options());
  for_each_piece(rows, rows_a_piece(mean.device(), rows), [&](std::int64_t begin, std::int64_t length) {
    auto part = out.narrow(0, begin, length);
    multiply_and_add(part, self.narrow(0, begin, length), of_self, bias);
    add_product(part, mean.narrow(0, begin, length), of_neighbours);
  });
  return out;
}

/// The first rows of x += a · b.
void add_to_first_rows(const at::Tensor& x, const at::Tensor& a, const at::Tensor& b) {
  for_each_piece(a.size(0), rows_a_piece(a.device(), a.size(0)),
                 [&](std::int64_t begin, std::int64_t length) {
                   auto part = x.narrow(0, begin, length);
                   add_product(part, a.narrow(0, begin, length), b);
                 });
}

/// Keeps the factors self and mean for the weights' gradients, and computes the layer.
at::Tensor forward_of(AutogradContext* context, const at::Tensor& self, const at::Tensor& mean,
                      const at::Tensor& of_self, const at::Tensor& of_neighbours, const at::Tensor& bias) {
  const Factors factors(of_self);
  const auto self_factor = factors.of(self);
  const auto mean_factor = factors.of(mean);
  context->save_for_backward({self_factor, mean_factor, of_self, of_neighbours});
  return sum_of_products(self_factor, mean_factor, factors.of(of_self), factors.of(of_neighbours), bias);
}

/// Of the weights and the bias. `factor` is the gradient as products take it.
tensor_list gradients_of_weights(const at::Tensor& self, const at::Tensor& mean, const at::Tensor& gradient,
                                 const at::Tensor& factor) {
  return {transposed_product(self, factor), transposed_product(mean, factor), column_sums(gradient)};
}

struct SageProduct : torch::autograd::Function<SageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& of_self,
                            const at::Tensor& of_neighbours, const at::Tensor& bias,
                            const SparseBlockPtr& block) {
    save_block(context, block);
    return forward_of(context, x.narrow(0, 0, block->num_destinations()), spmm_mean(block, x), of_self,
                      of_neighbours, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto block = saved_block(context);
    const auto saved = context->get_saved_variables();
    const auto& [self, mean, of_self, of_neighbours] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const auto gradient = gradients[0].contiguous();
    const Factors factors(of_self);
    const auto factor = factors.of(gradient);
    at::Tensor to_x;
    if (context->needs_input_grad(0)) {
      to_x = spmm_mean_gradient(block, product(factor, factors.of(of_neighbours).t()));
      add_to_first_rows(to_x, factor, factors.of(of_self).t());
    }
    auto all = gradients_of_weights(self, mean, gradient, factor);
    all.insert(all.begin(), to_x);
    all.emplace_back();
    return all;
  }
};

/// With inputs that get no gradient.
struct StoredSageProduct : torch::autograd::Function<StoredSageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& of_self,
                            const at::Tensor& of_neighbours, const at::Tensor& bias, const at::Tensor& self,
                            const at::Tensor& mean) {
    return forward_of(context, self, mean, of_self, of_neighbours, bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    auto all = gradients_of_weights(saved[0], saved[1], gradient, Factors(saved[2]).of(gradient));
    all.resize(5);
    return all;
  }
};

}  // namespace

at::Tensor sage_product(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias) {
  return SageProduct::apply(x.contiguous(), of_self, of_neighbours, bias, block);
}

at::Tensor sage_product(const SparseBlockPtr& block, const DroppedRows& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias) {
  return StoredSageProduct::apply(of_self, of_neighbours, bias, first_rows(x, block->num_destinations()),
                                  spmm_mean(block, x));
}

at::Tensor first_rows(const DroppedRows& x, std::int64_t count) {
  const auto device = x.rows->device();
  const auto out = at::empty({count, x.size(1)}, at::TensorOptions(at::kFloat).device(device));
  for_each_piece(count, rows_a_piece(device, count), [&](std::int64_t begin, std::int64_t length) {
    auto part = out.narrow(0, begin, length);
    x.rows->read(begin, x.rule, part);
  });
  return out;
}

}  // namespace gnomon::nn
