#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/gcn.h"

namespace gnomon::kernels::device {

extern template void gcn_propagate(cuda::Executor&, const SparseRows&, const float*, const float*,
                                   std::int64_t, float*);
extern template void gcn_propagate_gradient(cuda::Executor&, const SparseRows&, const SparseRows&,
                                            const float*, const float*, std::int64_t, float*);
extern template void gcn_propagate_stored(cuda::Executor&, const SparseRows&, const float*, const StoredRows&,
                                          const KeptElements&, float*);

}  // namespace gnomon::kernels::device
