#include "kernels/cuda/cross_entropy.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/device/cross_entropy-inl.h"

namespace gnomon::kernels::device {

template void cross_entropy(cuda::Executor&, const StepOutputs&, float*, const MetricSums&);
template void cross_entropy(cuda::Executor&, const StepOutputs&, float*, const StepState*);

}  // namespace gnomon::kernels::device
