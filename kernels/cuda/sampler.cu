#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/sampler.h"
#include "kernels/device/sampler-inl.h"

namespace gnomon::kernels::device {

template class Sampler<cuda::Executor>;

}  // namespace gnomon::kernels::device
