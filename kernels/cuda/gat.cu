#include "kernels/cuda/gat.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/device/gat-inl.h"

namespace gnomon::kernels::device {

template void prepare_gat(cuda::Executor&, const GatLayerToPrepare*, int);
template void gat_parameter_gradients(cuda::Executor&, const GatLayerGradients*, int);
template void attend_gat(cuda::Executor&, const GatAttention&, const float*, const GatResults&);
template void attend_gat_gradient(cuda::Executor&, const GatAttention&, const SparseRows&, const GatResults&,
                                  const float*, float*, float*);

}  // namespace gnomon::kernels::device
