#pragma once

#include <cstdint>
#include <limits>

#include "kernels/device/rows.h"
#include "kernels/device/sparse.h"

// Operations on a block's structure: the rows of entries and self-loops. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Returns the row of an entry. Precondition: entry < indptr[num_rows].
constexpr std::int64_t row_with(const SparseRows& rows, std::int64_t entry) {
  return device::row_of(rows.indptr, rows.num_rows, entry);
}

/// The row and column of an index into a row-major matrix.
struct MatrixIndex {
  std::int64_t row;
  std::int64_t column;
};
constexpr MatrixIndex matrix_index(std::int64_t index, std::int64_t width) {
  constexpr std::int64_t max = std::numeric_limits<std::uint32_t>::max();
  if (index <= max && width <= max) {  // GPUs divide 32-bit integers much faster
    const auto row = static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(width);
    return {row, index - row * width};
  }
  return {index / width, index % width};
}

/// Writes the row of each entry, -1 for padding.
struct RowOfEntry {
  SparseRows rows;
  std::int32_t* row_of_entry;
  constexpr void operator()(std::int64_t entry) const {
    row_of_entry[entry] =
        entry < rows.indptr[rows.num_rows] ? static_cast<std::int32_t>(row_with(rows, entry)) : -1;
  }
};

/// 1 / (number of entries) of a row, 0 for an empty row.
constexpr float inverse_degree(std::int64_t entries) {
  const auto degree = static_cast<float>(entries);
  return degree > 0 ? 1 / degree : 0;
}

struct InverseDegree {
  const std::int64_t* indptr;
  float* inverse;
  constexpr void operator()(std::int64_t row) const {
    inverse[row] = inverse_degree(indptr[row + 1] - indptr[row]);
  }
};

/// Whether a row has no entry in its own column: 1 or 0, and 0 behind the last row.
constexpr std::int64_t lacks_loop(const SparseRows& rows, std::int64_t row) {
  if (row == rows.num_rows) {
    return 0;
  }
  for (std::int64_t entry = rows.indptr[row]; entry < rows.indptr[row + 1]; ++entry) {
    if (rows.columns[entry] == row) {
      return 0;
    }
  }
  return 1;
}

struct LacksLoop {
  SparseRows rows;
  std::int64_t* lacks;
  constexpr void operator()(std::int64_t row) const { lacks[row] = lacks_loop(rows, row); }
};

/// Sets lacks[v], which is 1 initially, to 0 if row v has an entry in column v.
template <class Atomics>
struct FindLoop {
  const std::int32_t* columns;
  const std::int32_t* row_of_entry;
  std::int64_t* lacks;
  constexpr void operator()(std::int64_t entry) const {
    if (row_of_entry[entry] >= 0 && columns[entry] == row_of_entry[entry]) {
      Atomics::min(lacks + columns[entry], std::int64_t{0});
    }
  }
};

struct SetOne {
  std::int64_t* values;
  constexpr void operator()(std::int64_t i) const { values[i] = 1; }
};

struct CopyEntry {
  SparseRows rows;
  const std::int32_t* row_of_entry;
  const std::int64_t* loops_before;
  std::int32_t* looped;
  constexpr void operator()(std::int64_t entry) const {
    if (row_of_entry[entry] >= 0) {
      looped[entry + loops_before[row_of_entry[entry]]] = rows.columns[entry];
    }
  }
};

/// Writes the row pointers with self-loops, and the self-loops.
struct AddLoop {
  SparseRows rows;
  const std::int64_t* loops_before;  ///< num_rows + 1
  std::int64_t* looped_indptr;
  std::int32_t* looped;
  constexpr void operator()(std::int64_t row) const {
    looped_indptr[row] = rows.indptr[row] + loops_before[row];
    if (row < rows.num_rows && loops_before[row + 1] > loops_before[row]) {
      looped[rows.indptr[row + 1] + loops_before[row]] = static_cast<std::int32_t>(row);
    }
  }
};

}  // namespace passes

template <class Executor>
void rows_of_entries(Executor& executor, const SparseRows& a, std::int32_t* row_of_entry) {
  executor.for_each(a.num_entries, passes::RowOfEntry{a, row_of_entry});
}

template <class Executor>
void inverse_degrees(Executor& executor, const SparseRows& a, float* inverse) {
  executor.for_each(a.num_rows, passes::InverseDegree{a.indptr, inverse});
}

template <class Executor>
void missing_loops(Executor& executor, const SparseRows& a, std::int64_t* loops) {
  executor.for_each(a.num_rows + 1, passes::LacksLoop{a, loops});
  executor.exclusive_sum(loops, a.num_rows + 1);
}

template <class Executor>
void with_self_loops(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                     std::int64_t* indptr, std::int32_t* columns) {
  using Atomics = typename Executor::Atomics;
  const auto loops = make_array<std::int64_t>(executor, a.num_rows + 1);
  executor.for_each(a.num_rows + 1, passes::SetOne{loops.data});
  executor.for_each(a.num_entries, passes::FindLoop<Atomics>{a.columns, row_of_entry, loops.data});
  executor.exclusive_sum(loops.data, a.num_rows + 1);
  executor.for_each(a.num_entries, passes::CopyEntry{a, row_of_entry, loops.data, columns});
  executor.for_each(a.num_rows + 1, passes::AddLoop{a, loops.data, indptr, columns});
}

}  // namespace gnomon::kernels::device
