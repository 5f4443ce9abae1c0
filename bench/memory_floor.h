#pragma once

#include <cstddef>
#include <cstdint>

namespace gnomon::bench {

/// Reads `lines` cache lines (64 bytes) at random places of a buffer of `buffer_bytes` (a power of two) on
/// huge pages, `threads` threads at once, each its own lines, by plain reads and then asked for ahead.
/// Returns the lines read a second by all threads together, the better way's: no preparation of mini-batches
/// reads random lines faster.
double random_lines_per_s(std::size_t buffer_bytes, std::int64_t lines, int threads);

}  // namespace gnomon::bench
