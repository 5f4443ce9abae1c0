#include "kernels/cuda/dropout.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/device/dropout-inl.h"

namespace gnomon::kernels::device {

template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);
template void relu_dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const float*, float*);
template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const std::uint16_t*, float*);
template void dropout(cuda::Executor&, const DropoutRule&, std::int64_t, const Bf16*, float*);
template void relu_dropout_gradient(cuda::Executor&, float, std::int64_t, const float*, const float*, float*);

}  // namespace gnomon::kernels::device
