#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace gnomon::nn {

/// Calls `act` on the thread on which LibTorch computes a device's gradients: one of its own for each GPU,
/// the calling one for the CPU. Rethrows what it throws. Whatever the caller's gradient mode is.
void run_on_autograd_thread(at::Device device, const std::function<void()>& act);

}  // namespace gnomon::nn
