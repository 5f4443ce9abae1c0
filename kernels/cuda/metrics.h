#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/metrics.h"

namespace gnomon::kernels::device {

extern template void add_metrics(cuda::Executor&, const StepOutputs&, MetricSums*);

}  // namespace gnomon::kernels::device
