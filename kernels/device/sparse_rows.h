#pragma once

#include <cstdint>
#include <limits>

#include "kernels/device/executor.h"

/// A block's structure on a device: its transpose, its edges' destinations, its self-loops.
namespace gnomon::kernels::device {

/// A sparse matrix by rows, as cpu::SparseRows, in device memory. Entries from indptr[num_rows] on, which a
/// block padded to a bound has, belong to no row.
struct SparseRows {
  std::int64_t num_rows = 0;
  std::int64_t num_entries = 0;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* columns = nullptr;
  const std::int32_t* edges = nullptr;  ///< null: entry i is edge i
};

/// The row that entry `entry`, below indptr[num_rows], lies in.
constexpr std::int64_t row_of(const SparseRows& rows, std::int64_t entry) {
  std::int64_t first = 0;  // the row is in [first, last)
  std::int64_t last = rows.num_rows;
  while (first + 1 < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (rows.indptr[middle] <= entry) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

/// One index of a range as a row and a column.
struct Place {
  std::int64_t row;
  std::int64_t column;
};
constexpr Place place_of(std::int64_t index, std::int64_t width) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (index <= most && width <= most) {  // a GPU divides 32 bits much faster
    const auto row = static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(width);
    return {row, index - row * width};
  }
  return {index / width, index % width};
}

/// The row of each entry, -1 for those of no row.
struct RowOfEntry {
  SparseRows rows;
  std::int32_t* row_of_entry;
  constexpr void operator()(std::int64_t entry) const {
    row_of_entry[entry] =
        entry < rows.indptr[rows.num_rows] ? static_cast<std::int32_t>(row_of(rows, entry)) : -1;
  }
};

/// 1 / (number of the row's entries), 0 for an empty row.
struct InverseDegree {
  const std::int64_t* indptr;
  float* inverse;
  constexpr void operator()(std::int64_t row) const {
    const auto degree = static_cast<float>(indptr[row + 1] - indptr[row]);
    inverse[row] = degree > 0 ? 1 / degree : 0;
  }
};

/// Sorting an entry by this brings sources together, and those of no row to the end.
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

/// Where a source's entries begin: the first key that is not less.
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

/// A block by sources, as cpu::TransposedBlock; its padding is the block's.
struct Transposed {
  std::int64_t* indptr;        ///< num_sources + 1
  std::int32_t* destinations;  ///< of each entry
  std::int32_t* edges;         ///< of each entry
};

/// Writes the block by sources, those of one in the order of the block. The executor has, found by its type,
///     void sort_by_key(Executor&, std::int32_t most, std::int64_t count, const std::int32_t* keys,
///                      std::int32_t* sorted_keys, const std::int32_t* values, std::int32_t* sorted_values);
/// which is stable and may expect keys in 0 … most.
template <class Executor>
void transpose(Executor& executor, const SparseRows& block, const std::int32_t* row_of_entry,
               std::int64_t num_sources, const Transposed& transposed) {
  const std::int64_t count = block.num_entries;
  const auto keys = make_array<std::int32_t>(executor, 3 * count);
  std::int32_t* numbers = keys.data + count;
  std::int32_t* sorted_keys = numbers + count;
  const auto most = static_cast<std::int32_t>(num_sources);
  executor.for_each(count, KeyOfEntry{block.columns, row_of_entry, most, keys.data, numbers});
  sort_by_key(executor, most, count, keys.data, sorted_keys, numbers, transposed.edges);
  executor.for_each(count, RowOfEdge{transposed.edges, row_of_entry, transposed.destinations});
  executor.for_each(num_sources + 1, BeginOfSource{sorted_keys, count, transposed.indptr});
}

/// lacks[v] becomes 0 where row v has an entry in column v. It is 1 before.
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

/// Ends the rows where they end with the loops, and writes these.
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

/// Writes the block with an edge from each destination to itself, at the end of its row, unless it has one:
/// `indptr` of as many rows, `columns` of num_entries + num_rows, the last ones of no row. How many there are
/// is not asked for: the host need not wait.
template <class Executor>
void with_self_loops(Executor& executor, const SparseRows& rows, const std::int32_t* row_of_entry,
                     std::int64_t* indptr, std::int32_t* columns) {
  using Atomics = typename Executor::Atomics;
  const auto loops = make_array<std::int64_t>(executor, rows.num_rows + 1);
  executor.for_each(rows.num_rows + 1, SetOne{loops.data});
  executor.for_each(rows.num_entries, FindLoop<Atomics>{rows.columns, row_of_entry, loops.data});
  executor.exclusive_sum(loops.data, rows.num_rows + 1);
  executor.for_each(rows.num_entries, CopyEntry{rows, row_of_entry, loops.data, columns});
  executor.for_each(rows.num_rows + 1, AddLoop{rows, loops.data, indptr, columns});
}

}  // namespace gnomon::kernels::device
