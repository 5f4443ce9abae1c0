#include "nn/dense/norms.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>

#include "nn/dense/chunks.h"
#include "nn/dense/products.h"

namespace gnomon::nn::dense {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct LayerNorm : torch::autograd::Function<LayerNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain,
                            const at::Tensor& bias) {
    const auto rows = x.size(0);
    auto out = at::empty_like(x);
    auto mean = at::empty({rows, 1}, x.options());
    auto inverse_deviation = at::empty({rows, 1}, x.options());
    for_each_chunk(rows, rows_per_chunk(x.device(), rows), [&](std::int64_t begin, std::int64_t length) {
      const auto [y, chunk_mean, chunk_inverse] =
          at::native_layer_norm(x.narrow(0, begin, length), {x.size(1)}, gain, bias, norm_epsilon);
      out.narrow(0, begin, length).copy_(y);
      mean.narrow(0, begin, length).copy_(chunk_mean);
      inverse_deviation.narrow(0, begin, length).copy_(chunk_inverse);
    });
    context->save_for_backward({x, mean, inverse_deviation, gain, bias});
    return out;
  }

  /// The gradients of gain and bias are sums over chunks, in the chunks' order.
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto gradient = gradients[0].contiguous();
    const auto rows = x.size(0);
    const auto chunk_rows = rows_per_chunk(x.device(), rows);
    const auto chunks = std::max<std::int64_t>(1, (rows + chunk_rows - 1) / chunk_rows);
    auto grad_x = at::empty_like(x);
    auto partial = at::zeros({2, chunks, x.size(1)}, x.options());
    for_each_chunk(rows, chunk_rows, [&](std::int64_t begin, std::int64_t length) {
      const auto part = [&](const at::Tensor& tensor) { return tensor.narrow(0, begin, length); };
      const auto [chunk_x, chunk_gain, chunk_bias] =
          at::native_layer_norm_backward(part(gradient), part(x), {x.size(1)}, part(saved[1]), part(saved[2]),
                                         saved[3], saved[4], std::array<bool, 3>{true, true, true});
      part(grad_x).copy_(chunk_x);
      partial[0][begin / chunk_rows].copy_(chunk_gain);
      partial[1][begin / chunk_rows].copy_(chunk_bias);
    });
    return {grad_x, column_sums(partial[0]), column_sums(partial[1])};
  }
};

struct BatchNorm : torch::autograd::Function<BatchNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain,
                            const at::Tensor& bias, const RunningStatistics& running) {
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, x.size(0)));
    const auto mean = column_sums(x) / rows;
    auto normalised = x - mean;
    const auto squares = column_sums(normalised.square());
    const auto inverse_deviation = (squares / rows + norm_epsilon).rsqrt_();
    normalised.mul_(inverse_deviation);
    running.mean.mul_(1 - norm_momentum).add_(mean * norm_momentum);
    if (x.size(0) > 1) {
      running.variance.mul_(1 - norm_momentum).add_(squares * (norm_momentum / (rows - 1)));
    }
    context->save_for_backward({normalised, inverse_deviation, gain});
    return (normalised * gain).add_(bias);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& normalised = saved[0];
    const auto gradient = gradients[0].contiguous();
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, gradient.size(0)));
    const auto grad_gain = column_sums(gradient * normalised);
    const auto grad_bias = column_sums(gradient);
    auto grad_x = gradient - grad_bias / rows;
    grad_x.sub_(normalised * (grad_gain / rows)).mul_(saved[2] * saved[1]);
    return {grad_x, grad_gain, grad_bias, {}};
  }
};

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias) {
  return LayerNorm::apply(x.contiguous(), gain, bias);
}

at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias,
                      const RunningStatistics& running) {
  return BatchNorm::apply(x.contiguous(), gain, bias, running);
}

at::Tensor batch_norm_by_running(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias,
                                 const RunningStatistics& running) {
  const auto inverse_deviation = (running.variance + norm_epsilon).rsqrt_();
  return (x - running.mean).mul_(gain * inverse_deviation).add_(bias);
}

}  // namespace gnomon::nn::dense
