#include "nn/adam.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "nn/dense/chunks.h"

namespace gnomon::nn {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

/// The tensors of all weights with the same step count.
struct Group {
  std::vector<at::Tensor> weights, gradients, means, squares;

  void add(const at::Tensor& weight, const AdamParamState& state) {
    weights.push_back(weight);
    gradients.push_back(weight.grad());
    means.push_back(state.exp_avg());
    squares.push_back(state.exp_avg_sq());
  }
};

const std::vector<at::Tensor>& weights_of(Adam& optimiser) {
  return optimiser.param_groups().front().params();
}

/// `rate` is a number, or in the memory of the weights' device.
template <class Rate>
void launch(Adam& optimiser, const Group& group, const at::Tensor& step, const Rate& rate) {
  const auto& options = static_cast<const AdamOptions&>(optimiser.param_groups().front().options());
  const auto [beta1, beta2] = options.betas();
  const std::vector<at::Tensor> steps(group.weights.size(), step);  // the kernel only reads it
  at::_fused_adam_(group.weights, group.gradients, group.means, group.squares, {}, steps, rate, beta1, beta2,
                   options.weight_decay(), options.eps(), /*amsgrad=*/false, /*maximize=*/false);
}

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

/// By step count: a weight without a gradient takes no step.
std::map<std::int64_t, Group> groups_of(Adam& optimiser) {
  std::map<std::int64_t, Group> groups;
  for (const auto& weight : weights_of(optimiser)) {
    if (!weight.grad().defined()) {
      continue;
    }
    auto& state = state_for(optimiser, weight);
    state.step(state.step() + 1);
    groups[state.step()].add(weight, state);
  }
  return groups;
}

/// A weight, its gradient and its state, or a chunk of them.
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

/// Chunks of contiguous weights; other weights stay whole. Chunks begin at multiples of ATen's vector length:
/// its scalar loop for the end of a tensor rounds differently than its vector loop.
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
  for (auto& [number, group] : groups_of(optimiser)) {
    if (!step.defined()) {
      step = at::empty({}, group.weights.front().options());
    }
    step.fill_(static_cast<double>(number));
    launch(optimiser, group, step, options.lr());
  }
}

bool steps_together(Adam& optimiser) {
  std::optional<std::int64_t> number;
  for (const auto& weight : weights_of(optimiser)) {
    const auto* state = state_of(optimiser, weight);
    if (state != nullptr && number.value_or(state->step()) != state->step()) {
      return false;
    }
    number = state != nullptr ? state->step() : number;
  }
  return number.has_value();
}

void launch_step(Adam& optimiser, const at::Tensor& step, const at::Tensor& learning_rate) {
  const at::NoGradGuard no_grad;
  Group all;
  for (const auto& weight : weights_of(optimiser)) {
    if (weight.grad().defined()) {
      all.add(weight, *state_of(optimiser, weight));
    }
  }
  launch(optimiser, all, step, learning_rate);
}

std::int64_t count_step(Adam& optimiser) {
  std::int64_t number = 0;
  for (const auto& weight : weights_of(optimiser)) {
    if (auto* state = state_of(optimiser, weight)) {
      state->step(state->step() + 1);
      number = state->step();
    }
  }
  return number;
}

}  // namespace gnomon::nn
