#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/cpu/sparse/sparse_rows.h"

namespace gnomon::nn {

/// Calls `body` on ranges that together are all rows, on up to at::get_num_threads() threads at once,
/// balanced by entries. `work_per_entry`: about how many numbers an entry touches; little work stays on this
/// thread.
void for_row_ranges(const kernels::cpu::SparseRows& rows, std::int64_t work_per_entry,
                    const std::function<void(kernels::cpu::RowRange)>& body);

/// Calls `body` on parts of 0 … count-1 that begin at multiples of `piece`, as large as one another, on up to
/// at::get_num_threads() threads at once.
void for_parts(std::int64_t count, std::int64_t piece,
               const std::function<void(std::int64_t begin, std::int64_t length)>& body);

}  // namespace gnomon::nn
