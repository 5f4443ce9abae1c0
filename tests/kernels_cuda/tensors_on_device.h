#pragma once

#include <string>

#include "nn/cuda/kernels.h"

namespace gnomon::kernels::cuda {

/// Why tests on CUDA tensors are left out; empty when they are not.
inline std::string why_no_tensors() {
  const auto why = nn::why_no_cuda();
  return why.empty() ? "" : "needs CUDA tensors: " + why;
}

}  // namespace gnomon::kernels::cuda
