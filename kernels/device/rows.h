#pragma once

#include <cstdint>

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// Returns the row of an entry by binary search; row i of `rows` has the entries indptr[i] … indptr[i+1]-1.
constexpr std::int64_t row_of(const std::int64_t* indptr, std::int64_t rows, std::int64_t entry) {
  std::int64_t low = 0;
  std::int64_t high = rows;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (indptr[middle] <= entry ? low : high) = middle;
  }
  return low;
}

}  // namespace gnomon::kernels::device
