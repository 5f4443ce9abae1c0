#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/stored.h"
#include "kernels/device/stored-inl.h"

namespace gnomon::kernels::device {

template void spmm_stored(cuda::Executor&, const SparseRows&, const Scales&, const StoredRows&,
                          const KeptElements&, float*);
template void own_and_mean_stored(cuda::Executor&, const SparseRows&, const StoredRows&, const KeptElements&,
                                  float*);
template void read_stored(cuda::Executor&, const StoredRows&, const DropoutRule&, std::int64_t, std::int64_t,
                          float*);
template void kept_elements(cuda::Executor&, const DropoutRule&, std::int64_t, std::uint8_t*);

}  // namespace gnomon::kernels::device
