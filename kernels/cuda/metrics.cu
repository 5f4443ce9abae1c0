#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/metrics.h"
#include "kernels/device/metrics-inl.h"

namespace gnomon::kernels::device {

template void add_metrics(cuda::Executor&, const StepOutputs&, MetricSums*);

}  // namespace gnomon::kernels::device
