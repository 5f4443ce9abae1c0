#pragma once

namespace gnomon::kernels::cpu {

/// Prefetches a cache line into the L2 cache. L1 tracks few outstanding misses, and misses that wait for
/// memory would delay those that L2 can serve. Always inlined, because GCC removes calls of a function that
/// only prefetches.
[[gnu::always_inline]] inline void prefetch_far(const void* address) { __builtin_prefetch(address, 0, 2); }

}  // namespace gnomon::kernels::cpu
