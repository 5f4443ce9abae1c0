#include "runtime/sage_product.h"

#include <torch/torch.h>

#include "runtime/pieces.h"
#include "runtime/products.h"

namespace gnomon::runtime {
namespace {

namespace sparse = kernels::autograd;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct SageProduct : torch::autograd::Function<SageProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& of_self,
                            const at::Tensor& of_neighbours, const at::Tensor& bias,
                            const sparse::SparseBlockPtr& block) {
    const auto mean = sparse::spmm_mean(block, x);
    sparse::save_block(context, block);
    context->save_for_backward({x, mean, of_self, of_neighbours});
    auto out = at::empty({mean.size(0), bias.size(0)}, x.options());
    for_each_piece(mean.size(0), rows_a_piece(mean), [&](std::int64_t begin, std::int64_t length) {
      auto part = out.narrow(0, begin, length);
      at::addmm_out(part, bias, x.narrow(0, begin, length), of_self);
      part.addmm_(mean.narrow(0, begin, length), of_neighbours);
    });
    return out;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto block = sparse::saved_block(context);
    const auto saved = context->get_saved_variables();
    const auto& [x, mean, of_self, of_neighbours] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const auto gradient = gradients[0].contiguous();
    at::Tensor to_x;
    if (context->needs_input_grad(0)) {
      to_x = sparse::spmm_mean_gradient(block, product(gradient, of_neighbours.t()));
      for_each_piece(gradient.size(0), rows_a_piece(gradient), [&](std::int64_t begin, std::int64_t length) {
        to_x.narrow(0, begin, length).addmm_(gradient.narrow(0, begin, length), of_self.t());
      });
    }
    return {to_x,
            transposed_product(x.narrow(0, 0, gradient.size(0)), gradient),
            transposed_product(mean, gradient),
            column_sums(gradient),
            {}};
  }
};

}  // namespace

at::Tensor sage_product(const sparse::SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias) {
  return SageProduct::apply(x.contiguous(), of_self, of_neighbours, bias, block);
}

}  // namespace gnomon::runtime
