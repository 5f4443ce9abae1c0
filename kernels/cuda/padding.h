#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/padding.h"

namespace gnomon::kernels::device {

extern template void copy_padded(cuda::Executor&, const std::vector<PaddedCopy>&, const StepState&,
                                 StepState*);

}  // namespace gnomon::kernels::device
