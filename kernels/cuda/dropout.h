#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/dropout.h"

namespace gnomon::kernels::device {

extern template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);
extern template void relu_dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);

}  // namespace gnomon::kernels::device
