#include "nn/dense/dense.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/dropout.h"
#include "nn/cuda/kernels.h"
#include "nn/dense/chunks.h"
#include "nn/dense/products.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn::dense {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Returns what `act` writes for x, chunk by chunk. Precondition: x is a contiguous CPU tensor.
template <class Act>
at::Tensor map_chunks(const at::Tensor& x, const Act& act) {
  auto out = at::empty_like(x);
  const auto* from = x.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_each_chunk(x.numel(), elements_per_chunk, [&](std::int64_t begin, std::int64_t length) {
    act(begin, length, from + begin, to + begin);
  });
  return out;
}

at::Tensor elu_by_chunks(const at::Tensor& x) {
  return map_chunks(x, [](std::int64_t, std::int64_t length, const float* from, float* to) {
    std::transform(from, from + length, to,
                   [](float value) { return value > 0 ? value : std::expm1(value); });
  });
}

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    const GemmOperands operands(weight);
    const auto operand = operands.of(x.contiguous());
    context->save_for_backward({operand, weight});
    return product(operand, operands.of(weight));
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const GemmOperands operands(saved[1]);
    const auto gradient = operands.of(gradients[0].contiguous());
    at::Tensor grad_x, grad_weight;
    if (context->needs_input_grad(0)) {
      grad_x = product(gradient, operands.of(saved[1]).t());
    }
    if (context->needs_input_grad(1)) {
      grad_weight = transposed_product(saved[0], gradient);
    }
    return {grad_x, grad_weight};
  }
};

/// Linear of stored rows, which need no gradient.
struct StoredLinear : torch::autograd::Function<StoredLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const DroppedFeatures& x) {
    const GemmOperands operands(weight);
    save_rows(context, x);
    context->save_for_backward({weight});
    return product(chunks_of(x, operands), operands.of(weight));
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto x = saved_rows(context);
    const GemmOperands operands(context->get_saved_variables()[0]);
    return {transposed_product(chunks_of(x, operands), operands.of(gradients[0].contiguous())), {}};
  }
};

/// Linear of sparse rows, which need no gradient.
struct SparseLinear : torch::autograd::Function<SparseLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const SparseFeatures& x) {
    save_block(context, x.entries);
    context->save_for_backward({x.values});
    return product(x, weight);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const SparseFeatures x{saved_block(context), context->get_saved_variables()[0]};
    return {transposed_product(x, gradients[0].contiguous()), {}};
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

/// Linear and AddBias in one, of a device: its products round their operands themselves.
struct Affine : torch::autograd::Function<Affine> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias) {
    context->save_for_backward({x, weight});
    auto out = at::empty({x.size(0), weight.size(1)}, x.options());
    gemm_plus_row(out, x, weight, bias);
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    at::Tensor grad_x;
    if (context->needs_input_grad(0)) {
      grad_x = product(gradient, saved[1].t());
    }
    return {grad_x, transposed_product(saved[0], gradient), column_sums(gradient)};
  }
};

struct Elu : torch::autograd::Function<Elu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    auto out = x.is_cpu() ? elu_by_chunks(x.contiguous()) : at::elu(x);
    context->save_for_backward({out});
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    // The derivative is 1 where the output is positive and output + 1 elsewhere.
    return {gradients[0] * (context->get_saved_variables()[0].clamp_max(0) + 1)};
  }
};

at::Tensor apply_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return x.is_cpu() ? map_chunks(x, [&](auto... range) { kernels::cpu::dropout(rule, range...); })
                    : cuda_dropout(rule, x);
}

at::Tensor apply_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return x.is_cpu() ? map_chunks(x, [&](auto... range) { kernels::cpu::relu_dropout(rule, range...); })
                    : cuda_relu_dropout(rule, x);
}

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const kernels::DropoutRule& rule) {
    context->saved_data["threshold"] = static_cast<std::int64_t>(rule.threshold);
    context->saved_data["seed"] = static_cast<std::int64_t>(rule.key.seed);
    context->saved_data["epoch"] = static_cast<std::int64_t>(rule.key.epoch);
    context->saved_data["batch"] = static_cast<std::int64_t>(rule.key.batch);
    context->saved_data["level"] = static_cast<std::int64_t>(rule.key.level);
    context->saved_data["number"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(rule.number));
    return apply_dropout(rule, x);
  }
  /// Recomputes the mask instead of saving it.
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = [&](const char* name) { return context->saved_data[name].toInt(); };
    const base::StreamKey key{
        static_cast<std::uint64_t>(saved("seed")),  base::Purpose::dropout,
        static_cast<std::uint64_t>(saved("epoch")), static_cast<std::uint64_t>(saved("batch")),
        static_cast<std::uint32_t>(saved("level")), 0};
    const kernels::DropoutRule rule{
        key, static_cast<std::uint32_t>(saved("threshold")),
        // Saved data holds integers only. NOLINTNEXTLINE(performance-no-int-to-ptr)
        reinterpret_cast<const kernels::StepNumber*>(static_cast<std::intptr_t>(saved("number")))};
    return {apply_dropout(rule, gradients[0].contiguous()), {}};
  }
};

struct ReluDropout : torch::autograd::Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const kernels::DropoutRule& rule) {
    auto out = apply_relu_dropout(rule, x);
    context->save_for_backward({out});
    context->saved_data["scale"] = static_cast<double>(rule.scale());
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    return {relu_dropout_gradient(scale, context->get_saved_variables()[0], gradients[0].contiguous()), {}};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) { return Linear::apply(x, weight); }

at::Tensor linear(const DroppedFeatures& x, const at::Tensor& weight) {
  return StoredLinear::apply(weight, x);
}

at::Tensor linear(const SparseFeatures& x, const at::Tensor& weight) {
  return SparseLinear::apply(weight, x);
}

at::Tensor add_bias(const at::Tensor& x, const at::Tensor& bias) { return AddBias::apply(x, bias); }

at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return x.is_cpu() ? add_bias(dense::linear(x, weight), bias) : Affine::apply(x.contiguous(), weight, bias);
}

at::Tensor elu(const at::Tensor& x) { return Elu::apply(x); }

kernels::DropoutRule dropout_rule(double probability, const base::StreamKey& key) {
  return {key, static_cast<std::uint32_t>(std::lround(probability * 65536)), nullptr};
}

at::Tensor dropout(const at::Tensor& x, const kernels::DropoutRule& rule) {
  return rule.threshold == 0 ? x : Dropout::apply(x, rule);
}

at::Tensor dropout_of_features(const at::Tensor& features, const kernels::DropoutRule& rule) {
  return features.is_cpu() || rule.threshold == 0 ? dropout(features.to(at::kFloat), rule)
                                                  : cuda_dropout(rule, features);
}

at::Tensor relu_dropout(const at::Tensor& x, const kernels::DropoutRule& rule) {
  return rule.threshold == 0 ? at::relu(x) : ReluDropout::apply(x, rule);
}

/// An output of 0 means that the element was dropped or not positive; its gradient is 0 in both cases.
at::Tensor relu_dropout_gradient(float scale, const at::Tensor& out, const at::Tensor& gradient) {
  if (!out.is_cpu()) {
    return cuda_relu_dropout_gradient(scale, out, gradient);
  }
  const auto* kept = out.const_data_ptr<float>();
  return map_chunks(gradient, [&](std::int64_t begin, std::int64_t length, const float* from, float* to) {
    kernels::cpu::relu_dropout_gradient(scale, length, kept + begin, from, to);
  });
}

}  // namespace gnomon::nn::dense
