#include "kernels/cuda/gcn.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/device/gcn-inl.h"

namespace gnomon::kernels::device {

template void gcn_propagate(cuda::Executor&, const SparseRows&, const float*, const float*, std::int64_t,
                            float*);
template void gcn_propagate_gradient(cuda::Executor&, const SparseRows&, const SparseRows&, const float*,
                                     const float*, std::int64_t, float*);
template void gcn_propagate_stored(cuda::Executor&, const SparseRows&, const float*, const StoredRows&,
                                   const KeptElements&, float*);

}  // namespace gnomon::kernels::device
