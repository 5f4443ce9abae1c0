#pragma once

#include <c10/util/Exception.h>

#include <cstdint>

namespace gnomon::nn {

/// Chunks of fewer bytes would need less memory than LibTorch's allocator rounds a tensor to.
inline constexpr std::int64_t min_chunk_bytes = std::int64_t{1} << 20;

/// Returns act(chunk_bytes). If the device's memory does not suffice, as caches hold most of it, calls `act`
/// again with a quarter of the bytes, down to min_chunk_bytes. Throws c10::OutOfMemoryError.
template <class Act>
auto with_smaller_chunks(std::int64_t chunk_bytes, const Act& act) {
  while (chunk_bytes / 4 >= min_chunk_bytes) {
    try {
      return act(chunk_bytes);
    } catch (const c10::OutOfMemoryError&) {
      chunk_bytes /= 4;
    }
  }
  return act(chunk_bytes);
}

}  // namespace gnomon::nn
