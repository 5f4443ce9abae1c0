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

/// Makes the optimiser's step by chunks of weights on up to at::get_num_threads() threads, with the bits of
/// Adam::step() on one thread. Precondition: the weights are fp32 on the CPU; no amsgrad.
void chunked_step(torch::optim::Adam& optimiser);

}  // namespace gnomon::nn
