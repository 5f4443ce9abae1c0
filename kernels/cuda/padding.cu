#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/padding.h"
#include "kernels/device/padding-inl.h"

namespace gnomon::kernels::device {

template void copy_padded(cuda::Executor&, const std::vector<PaddedCopy>&, const StepState&, StepState*);

}  // namespace gnomon::kernels::device
