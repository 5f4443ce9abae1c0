#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/adam.h>

#include <cstdint>

namespace gnomon::nn {

/// Returns Adam's state of a weight, or null before its first step.
torch::optim::AdamParamState* state_of(torch::optim::Adam& optimiser, const at::Tensor& weight);

/// Performs the optimiser's step with a few launches of ATen's fused kernel instead of a dozen per weight.
/// The state is that of Adam::step(), and the results are equal up to rounding. `step` is scratch space,
/// allocated on first use. Precondition: all weights are contiguous fp32 on one device; no amsgrad.
void fused_step(torch::optim::Adam& optimiser, at::Tensor& step);

/// Whether all weights that get gradients have equal step counts, of at least one.
bool steps_together(torch::optim::Adam& optimiser);

/// fused_step() for a recording of launches: it reads the step count and the learning rate from the GPU's
/// memory and leaves counting the step to count_step(). Precondition: steps_together().
void launch_step(torch::optim::Adam& optimiser, const at::Tensor& step, const at::Tensor& learning_rate);

/// Counts a step of launch_step(), and returns its number.
std::int64_t count_step(torch::optim::Adam& optimiser);

/// Performs the optimiser's step by chunks of weights on up to at::get_num_threads() threads, with the bits
/// of Adam::step() on one thread. Precondition: the weights are fp32 on the CPU; no amsgrad.
void chunked_step(torch::optim::Adam& optimiser);

}  // namespace gnomon::nn
