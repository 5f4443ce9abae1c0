#include "nn/adam.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "nn/dense/chunks.h"

namespace gnomon::nn {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

/// The tensors of weights that make the same step.
struct Group {
  std::vector<at::Tensor> weights, gradients, means, squares;
};

AdamParamState& state_for(Adam& optimiser, const at::Tensor& weight) {
  if (auto* state = state_of(optimiser, weight)) {
    return *state;
  }
  auto fresh = std::make_unique<AdamParamState>();
  fresh->step(0);
  fresh->exp_avg(at::zeros_like(weight));
  fresh->exp_avg_sq(at::zeros_like(weight));
  auto& state = *fresh;
  optimiser.state()[weight.unsafeGetTensorImpl()] = std::move(fresh);
  return state;
}

/// By the number of the step: a weight without a gradient makes none.
std::map<std::int64_t, Group> groups_of(Adam& optimiser) {
  std::map<std::int64_t, Group> groups;
  for (const auto& weight : optimiser.param_groups().front().params()) {
    if (!weight.grad().defined()) {
      continue;
    }
    auto& state = state_for(optimiser, weight);
    state.step(state.step() + 1);
    auto& group = groups[state.step()];
    group.weights.push_back(weight);
    group.gradients.push_back(weight.grad());
    group.means.push_back(state.exp_avg());
    group.squares.push_back(state.exp_avg_sq());
  }
  return groups;
}

/// A weight with what its step reads and writes, or a chunk of these.
struct Update {
  at::Tensor weight, gradient, mean, square;
  std::int64_t step = 0;

  bool is_contiguous() const {
    return weight.is_contiguous() && gradient.is_contiguous() && mean.is_contiguous() &&
           square.is_contiguous();
  }
  Update chunk(std::int64_t begin, std::int64_t length) const {
    const auto part = [&](const at::Tensor& whole) { return whole.view(-1).narrow(0, begin, length); };
    return {part(weight), part(gradient), part(mean), part(square), step};
  }
};

/// The operations of Adam::step(), in its order.
void apply(Update& update, const AdamOptions& options) {
  const auto [beta1, beta2] = options.betas();
  const auto step = static_cast<double>(update.step);
  const auto gradient = options.weight_decay() == 0
                            ? update.gradient
                            : update.gradient.add(update.weight, options.weight_decay());
  update.mean.mul_(beta1).add_(gradient, 1 - beta1);
  update.square.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
  const auto denominator = (update.square.sqrt() / std::sqrt(1 - std::pow(beta2, step))).add_(options.eps());
  update.weight.addcdiv_(update.mean, denominator, -options.lr() / (1 - std::pow(beta1, step)));
}

/// Chunks of contiguous weights, and other weights whole. Chunks begin at multiples of ATen's vectors, whose
/// loop rounds otherwise than the one for what is left at the end of a tensor.
std::vector<Update> chunks_of(const std::vector<Update>& updates) {
  std::vector<Update> chunks;
  for (const auto& update : updates) {
    const std::int64_t count = update.weight.numel();
    if (!update.is_contiguous()) {
      chunks.push_back(update);
      continue;
    }
    for (std::int64_t begin = 0; begin < count; begin += elements_per_chunk) {
      chunks.push_back(update.chunk(begin, std::min(elements_per_chunk, count - begin)));
    }
  }
  return chunks;
}

}  // namespace

AdamParamState* state_of(Adam& optimiser, const at::Tensor& weight) {
  const auto found = optimiser.state().find(weight.unsafeGetTensorImpl());
  return found == optimiser.state().end() ? nullptr : static_cast<AdamParamState*>(found->second.get());
}

void chunked_step(Adam& optimiser) {
  const at::NoGradGuard no_grad;
  const auto& options = static_cast<const AdamOptions&>(optimiser.param_groups().front().options());
  std::vector<Update> updates;
  std::int64_t elements = 0;
  for (const auto& weight : optimiser.param_groups().front().params()) {
    if (weight.grad().defined()) {
      auto& state = state_for(optimiser, weight);
      state.step(state.step() + 1);
      updates.push_back({weight.detach(), weight.grad(), state.exp_avg(), state.exp_avg_sq(), state.step()});
      elements += weight.numel();
    }
  }
  auto chunks = chunks_of(updates);
  const auto threads = std::clamp<std::int64_t>(elements / elements_per_chunk, 1, at::get_num_threads());
  const AtenThreadsGuard no_more_than_work(static_cast<int>(threads));
  for_each_chunk(std::ssize(chunks), 1, [&](std::int64_t number, std::int64_t) {
    apply(chunks[static_cast<std::size_t>(number)], options);
  });
}

void fused_step(Adam& optimiser, at::Tensor& step) {
  const at::NoGradGuard no_grad;
  const auto& options = static_cast<const AdamOptions&>(optimiser.param_groups().front().options());
  const auto [beta1, beta2] = options.betas();
  for (auto& [number, group] : groups_of(optimiser)) {
    if (!step.defined()) {
      step = at::empty({}, group.weights.front().options());
    }
    step.fill_(static_cast<double>(number));
    const std::vector<at::Tensor> steps(group.weights.size(), step);  // the kernel only reads it
    at::_fused_adam_(group.weights, group.gradients, group.means, group.squares, {}, steps, options.lr(),
                     beta1, beta2, options.weight_decay(), options.eps(), /*amsgrad=*/false,
                     /*maximize=*/false);
  }
}

}  // namespace gnomon::nn
