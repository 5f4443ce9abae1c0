#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/adam.h>

namespace gnomon::nn {

/// Returns Adam's state of a weight, or null before its first step.
torch::optim::AdamParamState* state_of(torch::optim::Adam& optimiser, const at::Tensor& weight);

/// Performs the optimiser's step with a few launches of ATen's fused kernel instead of a dozen per weight.
/// The state is that of Adam::step(), and the results are equal up to rounding. `step` is scratch space,
/// allocated on first use. Precondition: all weights are contiguous fp32 on one device; no amsgrad.
void fused_step(torch::optim::Adam& optimiser, at::Tensor& step);

}  // namespace gnomon::nn
