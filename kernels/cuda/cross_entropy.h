#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/cross_entropy.h"

namespace gnomon::kernels::device {

extern template void cross_entropy(cuda::Executor&, const StepOutputs&, float*, const MetricSums&);
extern template void cross_entropy(cuda::Executor&, const StepOutputs&, float*, const StepState*);

}  // namespace gnomon::kernels::device
