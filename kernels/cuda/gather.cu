#include "kernels/cuda/gather.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/device/gather-inl.h"

namespace gnomon::kernels::device {

template void gather_rows(cuda::Executor&, const Rows&, Reads, const std::int64_t*, std::int64_t, std::byte*,
                          const std::int64_t*);
template void gather_rows_by_place(cuda::Executor&, const Rows&, std::int64_t, Reads, const std::int64_t*,
                                   std::int64_t, std::byte*, const std::int64_t*);
template void gather_labels(cuda::Executor&, const std::int32_t*, const std::int64_t*, std::int64_t,
                            std::int64_t*);
template void gather_degrees(cuda::Executor&, const Topology&, const std::int64_t*, std::int64_t, float*);
template void copy_lists(cuda::Executor&, const Topology&, const std::int64_t*, std::int64_t,
                         const std::int64_t*, std::int64_t, const ListCopies&);
template void count_hits(cuda::Executor&, const CacheSlots&, const CacheReads&, CacheHits*);
template void count_visits(cuda::Executor&, const std::int64_t*, std::int64_t, std::uint32_t*);

}  // namespace gnomon::kernels::device
