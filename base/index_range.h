#pragma once

#include <cstdint>

namespace gnomon::base {

/// The indices begin … end - 1.
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Returns chunk `chunk` of 0 … count - 1 split into `num_chunks` contiguous chunks whose sizes differ by at
/// most one.
constexpr IndexRange chunk_of(std::int64_t count, int chunk, int num_chunks) {
  return {count * chunk / num_chunks, count * (chunk + 1) / num_chunks};
}

}  // namespace gnomon::base
