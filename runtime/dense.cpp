#include "runtime/dense.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "runtime/pieces.h"

namespace gnomon::runtime::dense {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t rows_a_piece = 512;
constexpr std::int64_t columns_a_piece = 32;
constexpr std::int64_t elements_a_piece = 1 << 15;  // a multiple of eight, the elements of one random block

/// a · b, cut by the rows of a.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, std::int64_t piece) {
  auto out = at::empty({a.size(0), b.size(1)}, a.options());
  for_each_piece(a.size(0), piece, [&](std::int64_t begin, std::int64_t length) {
    auto part = out.narrow(0, begin, length);
    at::mm_out(part, a.narrow(0, begin, length), b);
  });
  return out;
}

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    context->save_for_backward({x, weight});
    return product(x, weight, rows_a_piece);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].contiguous();
    at::Tensor to_x, to_weight;
    if (context->needs_input_grad(0)) {
      to_x = product(gradient, saved[1].t(), rows_a_piece);
    }
    if (context->needs_input_grad(1)) {
      to_weight = product(saved[0].t(), gradient, columns_a_piece);
    }
    return {to_x, to_weight};
  }
};

struct AddBias : torch::autograd::Function<AddBias> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const at::Tensor& bias) {
    return x + bias;
  }
  static tensor_list backward(AutogradContext*, tensor_list gradients) {
    const auto gradient = gradients[0].contiguous();
    auto to_bias = at::empty({gradient.size(1)}, gradient.options());
    for_each_piece(gradient.size(1), columns_a_piece, [&](std::int64_t begin, std::int64_t length) {
      auto part = to_bias.narrow(0, begin, length);
      at::sum_out(part, gradient.narrow(1, begin, length), 0);
    });
    return {gradient, to_bias};
  }
};

struct Elu : torch::autograd::Function<Elu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    auto out = at::empty_like(x, at::MemoryFormat::Contiguous);
    const auto in = x.contiguous();
    const auto* from = in.const_data_ptr<float>();
    auto* to = out.mutable_data_ptr<float>();
    for_each_piece(in.numel(), elements_a_piece, [&](std::int64_t begin, std::int64_t length) {
      std::transform(from + begin, from + begin + length, to + begin,
                     [](float value) { return value > 0 ? value : std::expm1(value); });
    });
    context->save_for_backward({out});
    return out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    // The derivative is 1 where the output is positive and output + 1 elsewhere.
    return {gradients[0] * (context->get_saved_variables()[0].clamp_max(0) + 1)};
  }
};

/// Words 4·i … of the stream that `key` names, as eight 16-bit numbers for the elements 8·i ….
void write_dropped(const base::StreamKey& key, std::uint32_t threshold, float scale, const float* from,
                   float* to, std::int64_t begin, std::int64_t length) {
  auto stream = key;
  for (std::int64_t i = begin; i < begin + length; i += 8) {
    stream.item = static_cast<std::uint64_t>(i / 8);
    const auto words = base::random_words(stream, 0);
    const std::int64_t elements = std::min<std::int64_t>(8, begin + length - i);
    for (std::int64_t j = 0; j < elements; ++j) {
      const std::uint32_t drawn = (words.word[j / 2] >> (16 * (j % 2))) & 0xFFFFU;
      to[i + j] = drawn < threshold ? 0.0F : from[i + j] * scale;
    }
  }
}

at::Tensor dropped(const at::Tensor& x, std::uint32_t threshold, const base::StreamKey& key) {
  const float scale = 65536.0F / static_cast<float>(65536U - threshold);
  auto out = at::empty_like(x);
  const auto* from = x.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_each_piece(x.numel(), elements_a_piece, [&](std::int64_t begin, std::int64_t length) {
    write_dropped(key, threshold, scale, from, to, begin, length);
  });
  return out;
}

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::uint32_t threshold,
                            const base::StreamKey& key) {
    context->saved_data["threshold"] = static_cast<std::int64_t>(threshold);
    context->saved_data["seed"] = static_cast<std::int64_t>(key.seed);
    context->saved_data["epoch"] = static_cast<std::int64_t>(key.epoch);
    context->saved_data["batch"] = static_cast<std::int64_t>(key.batch);
    context->saved_data["level"] = static_cast<std::int64_t>(key.level);
    return dropped(x, threshold, key);
  }
  /// The mask is drawn again instead of kept.
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = [&](const char* name) { return context->saved_data[name].toInt(); };
    const base::StreamKey key{
        static_cast<std::uint64_t>(saved("seed")),  base::Purpose::dropout,
        static_cast<std::uint64_t>(saved("epoch")), static_cast<std::uint64_t>(saved("batch")),
        static_cast<std::uint32_t>(saved("level")), 0};
    return {dropped(gradients[0].contiguous(), static_cast<std::uint32_t>(saved("threshold")), key), {}, {}};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) { return Linear::apply(x, weight); }

at::Tensor add_bias(const at::Tensor& x, const at::Tensor& bias) { return AddBias::apply(x, bias); }

at::Tensor elu(const at::Tensor& x) { return Elu::apply(x); }

at::Tensor dropout(const at::Tensor& x, double probability, const base::StreamKey& key) {
  const auto threshold = static_cast<std::uint32_t>(std::lround(probability * 65536));
  return threshold == 0 ? x : Dropout::apply(x, threshold, key);
}

}  // namespace gnomon::runtime::dense
