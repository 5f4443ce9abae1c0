#include "nn/adam.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

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

}  // namespace

AdamParamState* state_of(Adam& optimiser, const at::Tensor& weight) {
  const auto found = optimiser.state().find(weight.unsafeGetTensorImpl());
  return found == optimiser.state().end() ? nullptr : static_cast<AdamParamState*>(found->second.get());
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
