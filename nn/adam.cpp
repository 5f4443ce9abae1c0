#include "nn/adam.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>
#include <memory>
#include <vector>

namespace gnomon::nn {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

/// The tensors of all weights with the same step count.
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

/// By step count: a weight without a gradient takes no step.
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

}  // namespace

AdamParamState* state_of(Adam& optimiser, const at::Tensor& weight) {
  const auto found = optimiser.state().find(weight.unsafeGetTensorImpl());
  return found == optimiser.state().end() ? nullptr : static_cast<AdamParamState*>(found->second.get());
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
