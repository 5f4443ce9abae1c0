#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/stored.h"

namespace gnomon::kernels::device {

extern template void spmm_stored(cuda::Executor&, const SparseRows&, const Scales&, const StoredRows&,
                                 const KeptElements&, float*);
extern template void own_and_mean_stored(cuda::Executor&, const SparseRows&, const StoredRows&,
                                         const KeptElements&, float*);
extern template void read_stored(cuda::Executor&, const StoredRows&, const DropoutRule&, std::int64_t,
                                 std::int64_t, float*);
extern template void kept_elements(cuda::Executor&, const DropoutRule&, std::int64_t, std::uint8_t*);

}  // namespace gnomon::kernels::device
