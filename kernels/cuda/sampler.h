#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/sampler.h"

namespace gnomon::kernels::device {

extern template class Sampler<cuda::Executor>;

}  // namespace gnomon::kernels::device

namespace gnomon::kernels::cuda {

/// The sampler on a CUDA stream.
using Sampler = device::Sampler<Executor>;

}  // namespace gnomon::kernels::cuda
