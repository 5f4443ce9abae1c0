#include "nn/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for is serial in this file: compile it with -fopenmp"
#endif

namespace gnomon::nn {

void for_row_ranges(const kernels::cpu::SparseRows& rows, std::int64_t work_per_entry,
                    const std::function<void(kernels::cpu::RowRange)>& body) {
  constexpr std::int64_t min_work = 1 << 15;  // about the cost of waking a thread
  const std::int64_t work =
      (rows.num_entries() + rows.num_rows()) * std::max<std::int64_t>(work_per_entry, 1);
  const std::int64_t parts = std::clamp<std::int64_t>(work / min_work, 1, at::get_num_threads());
  const auto ranges = kernels::cpu::balanced_ranges(rows.indptr, parts);
  at::parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      body(ranges[static_cast<std::size_t>(part)]);
    }
  });
}

void for_aligned_ranges(std::int64_t count, std::int64_t alignment,
                        const std::function<void(std::int64_t begin, std::int64_t length)>& body) {
  const std::int64_t units = (count + alignment - 1) / alignment;
  at::parallel_for(0, units, 1, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t end = std::min(last * alignment, count);
    if (first * alignment < end) {
      body(first * alignment, end - first * alignment);
    }
  });
}

void for_parts(int parts, const std::function<void(int part)>& body) {
  at::parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      body(static_cast<int>(part));
    }
  });
}

void run_on_tensor_threads(int members, const std::function<void(int member)>& body) {
#pragma omp parallel for schedule(static, 1) num_threads(members)
  for (int member = 0; member < members; ++member) {
    body(member);
  }
}

}  // namespace gnomon::nn
