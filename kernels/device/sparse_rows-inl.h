#pragma once

#include <cstdint>
#include <limits>

#include "kernels/device/rows.h"
#include "kernels/device/sparse.h"

// Operations on a block's structure: the rows of entries, the transpose, self-loops. Also compiled by nvcc as
// C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Returns the row of an entry. Precondition: entry < indptr[num_rows].
constexpr std::int64_t row_of(const SparseRows& rows, std::int64_t entry) {
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
        entry < rows.indptr[rows.num_rows] ? static_cast<std::int32_t>(row_of(rows, entry)) : -1;
  }
};

/// Writes 1 / (number of entries) of each row, 0 for an empty row.
struct InverseDegree {
  const std::int64_t* indptr;
  float* inverse;
  constexpr void operator()(std::int64_t row) const {
    const auto degree = static_cast<float>(indptr[row + 1] - indptr[row]);
    inverse[row] = degree > 0 ? 1 / degree : 0;
  }
};

/// Writes the sort keys of the transpose: entries are grouped by source, with padding at the end.
struct KeyOfEntry {
  const std::int32_t* columns;
  const std::int32_t* row_of_entry;
  std::int32_t num_sources;
  std::int32_t* keys;
  std::int32_t* numbers;
  constexpr void operator()(std::int64_t entry) const {
    keys[entry] = row_of_entry[entry] < 0 ? num_sources : columns[entry];
    numbers[entry] = static_cast<std::int32_t>(entry);
  }
};

/// Finds the begin of a source's entries: the lower bound of the source among the sorted keys.
struct BeginOfSource {
  const std::int32_t* sorted_keys;
  std::int64_t count;
  std::int64_t* indptr;
  constexpr void operator()(std::int64_t source) const {
    std::int64_t first = 0;
    std::int64_t last = count;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (sorted_keys[middle] < source) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    indptr[source] = first;
  }
};

struct RowOfEdge {
  const std::int32_t* edges;
  const std::int32_t* row_of_entry;
  std::int32_t* destinations;
  constexpr void operator()(std::int64_t entry) const { destinations[entry] = row_of_entry[edges[entry]]; }
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
void transpose(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
               std::int64_t num_sources, const Transposed& transposed) {
  const std::int64_t count = a.num_entries;
  const auto keys = make_array<std::int32_t>(executor, 3 * count);
  std::int32_t* numbers = keys.data + count;
  std::int32_t* sorted_keys = numbers + count;
  const auto max_key = static_cast<std::int32_t>(num_sources);
  executor.for_each(count, passes::KeyOfEntry{a.columns, row_of_entry, max_key, keys.data, numbers});
  sort_by_key(executor, max_key, count, keys.data, sorted_keys, numbers, transposed.edges);
  executor.for_each(count, passes::RowOfEdge{transposed.edges, row_of_entry, transposed.destinations});
  executor.for_each(num_sources + 1, passes::BeginOfSource{sorted_keys, count, transposed.indptr});
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
