#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/gat.h"

namespace gnomon::kernels::device {

extern template void prepare_gat(cuda::Executor&, const GatLayerToPrepare*, int);
extern template void gat_parameter_gradients(cuda::Executor&, const GatLayerGradients*, int);
extern template void attend_gat(cuda::Executor&, const GatAttention&, const float*, const GatResults&);
extern template void attend_gat_gradient(cuda::Executor&, const GatAttention&, const SparseRows&,
                                         const GatResults&, const float*, float*, float*);

}  // namespace gnomon::kernels::device
