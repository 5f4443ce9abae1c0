#pragma once

namespace gnomon::kernels::cpu {

/// Asks memory for the line of an address, as far as the second cache. The first cache has few misses under
/// way at a time: those that wait for memory would hold up those that the second one answers. Always inlined:
/// GCC leaves out calls of a function that does nothing else.
[[gnu::always_inline]] inline void prefetch_far(const void* address) { __builtin_prefetch(address, 0, 2); }

}  // namespace gnomon::kernels::cpu
