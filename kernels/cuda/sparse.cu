#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/sort.cuh"
#include "kernels/cuda/sparse.h"
#include "kernels/device/sparse-inl.h"

namespace gnomon::kernels::device {

template void spmm(cuda::Executor&, const SparseRows&, const Scales&, const float*, std::int64_t, float*);
template void own_and_mean(cuda::Executor&, const SparseRows&, const float*, std::int64_t, float*);
template void own_and_mean_gradient(cuda::Executor&, const SparseRows&, const SparseRows&, const float*,
                                    std::int64_t, float*);
template void spmm_weighted(cuda::Executor&, const SparseRows&, const Heads&, const float*, const float*,
                            float*);
template void sum_edges(cuda::Executor&, const SparseRows&, std::int64_t, const float*, float*);
template void rows_of_entries(cuda::Executor&, const SparseRows&, std::int32_t*);
template void sddmm_add(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t, const float*,
                        const float*, float*);
template void sddmm_dot(cuda::Executor&, const SparseRows&, const std::int32_t*, const Heads&, const float*,
                        const float*, float*);
template void edge_softmax(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                           const float*, float*);
template void edge_softmax_backward(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                                    const float*, const float*, float*);
template void inverse_degrees(cuda::Executor&, const SparseRows&, float*);
template void transpose(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                        const Transposed&);
template void transpose_together(cuda::Executor&, const BlockToTranspose*, int);
template void missing_loops(cuda::Executor&, const SparseRows&, std::int64_t*);
template void with_self_loops(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t*,
                              std::int32_t*);

}  // namespace gnomon::kernels::device
