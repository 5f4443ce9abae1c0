#include "nn/autograd_thread.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace gnomon::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The identity, whose gradient calls a function.
struct CallInBackward : torch::autograd::Function<CallInBackward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::function<void()>* act) {
    context->saved_data["act"] = reinterpret_cast<std::int64_t>(act);  // outlives the backward pass
    return x.clone();
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    // Saved data holds integers only. NOLINTNEXTLINE(performance-no-int-to-ptr)
    (*reinterpret_cast<const std::function<void()>*>(context->saved_data["act"].toInt()))();
    return {gradients[0], {}};
  }
};

}  // namespace

void run_on_autograd_thread(at::Device device, const std::function<void()>& act) {
  const at::AutoGradMode computes_gradients(true);
  auto x = at::zeros({1}, at::TensorOptions(at::kFloat).device(device));
  x.set_requires_grad(true);
  CallInBackward::apply(x, &act).backward();
}

}  // namespace gnomon::nn
