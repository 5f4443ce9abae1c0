#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gnomon::kernels::cpu {

/// Copies bytes by non-temporal stores: the cache lines of `to` are neither read before they are written nor
/// kept in the caches, which saves a third of the memory traffic of a copy that no cache holds.
/// hwy::FlushStream() must follow before another thread is told of the copy. Without such stores, or unless
/// `to` and `bytes` are multiples of 4, this is memcpy.
inline void stream_copy(const std::byte* from, std::int64_t bytes, std::byte* to) {
#if defined(__SSE2__)
  constexpr std::int64_t vector_bytes = sizeof(__m128i);
  constexpr std::int64_t word_bytes = sizeof(int);
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to));
  if (address % word_bytes == 0 && bytes % word_bytes == 0) {
    std::int64_t done = 0;
    // The ends, too: an ordinary store to a line that is only partly written would write it to memory and
    // read it back.
    const auto copy_words = [&](std::int64_t end) {
      for (; done < end; done += word_bytes) {
        int word = 0;
        std::memcpy(&word, from + done, sizeof(word));
        _mm_stream_si32(reinterpret_cast<int*>(to + done), word);
      }
    };
    copy_words(std::min(bytes, (vector_bytes - address % vector_bytes) % vector_bytes));
    for (; done + vector_bytes <= bytes; done += vector_bytes) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
    }
    copy_words(bytes);
    return;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace gnomon::kernels::cpu
