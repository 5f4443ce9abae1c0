#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/device/gather.h"

namespace gnomon::kernels::device {

extern template void gather_rows(cuda::Executor&, const Rows&, Reads, const std::int64_t*, std::int64_t,
                                 std::byte*, const std::int64_t*);
extern template void gather_rows_by_place(cuda::Executor&, const Rows&, std::int64_t, Reads,
                                          const std::int64_t*, std::int64_t, std::byte*, const std::int64_t*);
extern template void gather_labels(cuda::Executor&, const std::int32_t*, const std::int64_t*, std::int64_t,
                                   std::int64_t*);
extern template void gather_degrees(cuda::Executor&, const Topology&, const std::int64_t*, std::int64_t,
                                    float*);
extern template void copy_lists(cuda::Executor&, const Topology&, const std::int64_t*, std::int64_t,
                                const std::int64_t*, std::int64_t, const ListCopies&);
extern template void count_hits(cuda::Executor&, const CacheSlots&, const CacheReads&, CacheHits*);
extern template void count_visits(cuda::Executor&, const std::int64_t*, std::int64_t, std::uint32_t*);

}  // namespace gnomon::kernels::device
