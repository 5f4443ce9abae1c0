#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/adam.h>

namespace gnomon::nn {

/// Returns Adam's state of a weight, or null before its first step.
torch::optim::AdamParamState* state_of(torch::optim::Adam& optimiser, const at::Tensor& weight);

/// Makes the optimiser's step by a few launches of ATen's fused kernel instead of a dozen for each weight.
/// The state is that of Adam::step(), and the results are equal up to rounding. `step` is scratch space, made
/// at first use. Precondition: all weights lie on one device and are contiguous fp32; no amsgrad.
void fused_step(torch::optim::Adam& optimiser, at::Tensor& step);

}  // namespace gnomon::nn
