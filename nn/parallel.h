#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/cpu/sparse/sparse_rows.h"

namespace gnomon::nn {

/// Parallel loop over the rows of a sparse matrix: calls `body` on disjoint ranges with balanced numbers of
/// entries, on up to at::get_num_threads() threads. `work_per_entry` is the approximate number of elements
/// that an entry touches; little work runs on the calling thread only.
void for_row_ranges(const kernels::cpu::SparseRows& rows, std::int64_t work_per_entry,
                    const std::function<void(kernels::cpu::RowRange)>& body);

/// Parallel loop over 0 … count-1: calls `body` on one range per thread, on up to at::get_num_threads()
/// threads. The ranges are of nearly equal length and begin at multiples of `alignment`.
void for_aligned_ranges(std::int64_t count, std::int64_t alignment,
                        const std::function<void(std::int64_t begin, std::int64_t length)>& body);

/// Calls body(0) … body(parts - 1) on up to at::get_num_threads() threads.
void for_parts(int parts, const std::function<void(int part)>& body);

/// Calls body(0) … body(members - 1), each on its own thread: the calling thread and OpenMP's threads for
/// tensor operations. A second set of threads would compete with these for the cores. Inside a parallel
/// region the calls are sequential. `body` must not throw.
void run_on_tensor_threads(int members, const std::function<void(int member)>& body);

}  // namespace gnomon::nn
