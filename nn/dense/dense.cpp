#include "nn/dense/dense.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/dropout.h"
#include "nn/cuda/kernels.h"
#include "nn/dense/pieces.h"
#include "nn/dense/products.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn::dense {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t elements_a_piece = 1 << 15;  // a multiple of kernels::dropout_block

/// What `act` writes of x, which lies contiguous on the CPU, piece by piece.
template <class Act>
at::Tensor in_pieces(const at::Tensor& x, const Act& act) {
  auto out = at::empty_like(x);
  const auto* from = x.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_each_piece(x.numel(), elements_a_piece, [&](std::int64_t begin, std::int64_t length) {
    act(begin, length, from + begin, to + begin);
  });
  return out;
}

at::Tensor elu_in_pieces(const at::Tensor& x) {
  return in_pieces(x, [](std::int64_t, std::int64_t length, const float* from, float* to) {
    std::transform(from, from + length, to,
                   [](float value) { return value > 0 ? value : std::expm1(value); });
  });
}

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    const Factors factors(weight);
    const auto factor = factors.of(x.contiguous());
    context->save_for_backward({factor, weight});
    return product(factor, factors.of(weight));
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const Factors factors(saved[1]);
    const auto gradient = factors.of(gradients[0].contiguous());
    at::Tensor to_x, to_weight;
    if (context->needs_input_grad(0)) {
      to_x = product(gradient, factors.of(saved[1]).t());
    }
    if (context->needs_input_grad(1)) {
      to_weight = transposed_product(saved[0], gradient);
    }
    return {to_x, to_weight};
  }
};

/// Of stored rows, which need no gradient.
struct StoredLinear : torch::autograd::Function<StoredLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const DroppedRows& x) {
    const Factors factors(weight);
    save_rows(context, x);
    context->save_for_backward({weight});
    return product(pieces_of(x, factors), factors.of(weight));
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto x = saved_rows(context);
    const Factors factors(context->get_saved_variables()[0]);
    return {transposed_product(pieces_of(x, factors), factors.of(gradients[0].contiguous())), {}};
  }
};

struct AddBias : torch::autograd::Function<AddBias> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const at::Tensor& bias) {
    return x + bias;
  }
  static tensor_list backward(AutogradContext*, tensor_list gradients) {
    const auto gradient = gradients[0].contiguous();
    return {gradient, column_sums(gradient)};
  }
};

struct Elu : torch::autograd::Function<Elu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const auto out = x.is_cpu() ? elu_in_pieces(x.contiguous()) : at::elu(x);
    context->save_for_backward({out});
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    // The derivative is 1 where the output is positive and output + 1 elsewhere.
    return {gradients[0] * (context->get_saved_variables()[0].clamp_max(0) + 1)};
  }
};

at::Tensor dropped_by(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return x.is_cpu() ? in_pieces(x, [&](auto... range) { kernels::cpu::dropout(rule, range...); })
                    : cuda_dropout(rule, x);
}

at::Tensor relu_dropped_by(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return x.is_cpu() ? in_pieces(x, [&](auto... range) { kernels::cpu::relu_dropout(rule, range...); })
                    : cuda_relu_dropout(rule, x);
}

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const kernels::DropoutRule& rule) {
    context->saved_data["threshold"] = static_cast<std::int64_t>(rule.threshold);
    context->saved_data["seed"] = static_cast<std::int64_t>(rule.key.seed);
    context->saved_data["epoch"] = static_cast<std::int64_t>(rule.key.epoch);
    context->saved_data["batch"] = static_cast<std::int64_t>(rule.key.batch);
    context->saved_data["level"] = static_cast<std::int64_t>(rule.key.level);
    return dropped_by(rule, x);
  }
  /// The mask is drawn again instead of kept.
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = [&](const char* name) { return context->saved_data[name].toInt(); };
    const base::StreamKey key{
        static_cast<std::uint64_t>(saved("seed")),  base::Purpose::dropout,
        static_cast<std::uint64_t>(saved("epoch")), static_cast<std::uint64_t>(saved("batch")),
        static_cast<std::uint32_t>(saved("level")), 0};
    return {dropped_by({key, static_cast<std::uint32_t>(saved("threshold"))}, gradients[0].contiguous()), {}};
  }
};

/// The result is 0 where the element was dropped or not positive.
struct ReluDropout : torch::autograd::Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const kernels::DropoutRule& rule) {
    const auto out = relu_dropped_by(rule, x);
    context->save_for_backward({out});
    context->saved_data["scale"] = static_cast<double>(rule.scale());
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto out = context->get_saved_variables()[0];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const auto gradient = gradients[0].contiguous();
    if (!out.is_cpu()) {
      return {(gradient * scale).masked_fill_(out.eq(0), 0), {}};
    }
    const auto* kept = out.const_data_ptr<float>();
    const auto to_x =
        in_pieces(gradient, [&](std::int64_t begin, std::int64_t length, const float* from, float* to) {
          kernels::cpu::relu_dropout_gradient(scale, length, kept + begin, from, to);
        });
    return {to_x, {}};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) { return Linear::apply(x, weight); }

at::Tensor linear(const DroppedRows& x, const at::Tensor& weight) { return StoredLinear::apply(weight, x); }

at::Tensor add_bias(const at::Tensor& x, const at::Tensor& bias) { return AddBias::apply(x, bias); }

at::Tensor elu(const at::Tensor& x) { return Elu::apply(x); }

kernels::DropoutRule dropout_rule(double probability, const base::StreamKey& key) {
  return {key, static_cast<std::uint32_t>(std::lround(probability * 65536))};
}

at::Tensor dropout(const at::Tensor& x, double probability, const base::StreamKey& key) {
  const auto rule = dropout_rule(probability, key);
  return rule.threshold == 0 ? x : Dropout::apply(x, rule);
}

at::Tensor relu_dropout(const at::Tensor& x, double probability, const base::StreamKey& key) {
  const auto rule = dropout_rule(probability, key);
  return rule.threshold == 0 ? at::relu(x) : ReluDropout::apply(x, rule);
}

}  // namespace gnomon::nn::dense
