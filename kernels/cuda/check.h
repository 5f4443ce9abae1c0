#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "base/error.h"

namespace gnomon::kernels::cuda {

/// Throws base::Failure if a call of the CUDA runtime failed; `what` describes the operation.
inline void check(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) {
    throw base::Failure("CUDA: " + what, cudaGetErrorString(error));
  }
}

}  // namespace gnomon::kernels::cuda
