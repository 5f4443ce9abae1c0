#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/sparse.h"

namespace gnomon::kernels::device {

extern template void spmm(cuda::Executor&, const SparseRows&, const Scales&, const float*, std::int64_t,
                          float*);
extern template void own_and_mean(cuda::Executor&, const SparseRows&, const float*, std::int64_t, float*);
extern template void own_and_mean_gradient(cuda::Executor&, const SparseRows&, const SparseRows&,
                                           const float*, std::int64_t, float*);
extern template void spmm_weighted(cuda::Executor&, const SparseRows&, const Heads&, const float*,
                                   const float*, float*);
extern template void sum_edges(cuda::Executor&, const SparseRows&, std::int64_t, const float*, float*);
extern template void rows_of_entries(cuda::Executor&, const SparseRows&, std::int32_t*);
extern template void sddmm_add(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                               const float*, const float*, float*);
extern template void sddmm_dot(cuda::Executor&, const SparseRows&, const std::int32_t*, const Heads&,
                               const float*, const float*, float*);
extern template void edge_softmax(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                                  const float*, float*);
extern template void edge_softmax_backward(cuda::Executor&, const SparseRows&, const std::int32_t*,
                                           std::int64_t, const float*, const float*, float*);
extern template void inverse_degrees(cuda::Executor&, const SparseRows&, float*);
extern template void transpose(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t,
                               const Transposed&);
extern template void transpose_together(cuda::Executor&, const BlockToTranspose*, int);
extern template void missing_loops(cuda::Executor&, const SparseRows&, std::int64_t*);
extern template void with_self_loops(cuda::Executor&, const SparseRows&, const std::int32_t*, std::int64_t*,
                                     std::int32_t*);

}  // namespace gnomon::kernels::device
