#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/dropout.h"

namespace gnomon::kernels::device {

extern template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);
extern template void relu_dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);
extern template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const std::uint16_t*, float*);
extern template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const Bf16*, float*);
extern template void relu_dropout_gradient(cuda::Executor&, float, std::int64_t, const float*, const float*,
                                           float*);

}  // namespace gnomon::kernels::device
