#pragma once

#include <cstdint>

#include "kernels/device/executor.h"

// Also compiled by nvcc as C++17.

/// The sparse kernels of kernels/cpu/sparse/sparse.h on a device, in fp32: the same results within rounding,
/// whatever the executor, and the same bits every time. Dense arguments are row-major.
namespace gnomon::kernels::device {

/// A sparse matrix by rows, as cpu::SparseRows, in device memory. Entries from indptr[num_rows] on, which a
/// block padded to a bound has, belong to no row: what the kernels leave of them is not defined.
struct SparseRows {
  std::int64_t num_rows = 0;
  std::int64_t num_entries = 0;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* columns = nullptr;
  const std::int32_t* edges = nullptr;  ///< null: entry i is edge i
};

/// Factors of an SpMM's rows and columns; null means ones.
struct Scales {
  const float* rows = nullptr;
  const float* columns = nullptr;
};

/// How many attention heads, and how many values each has.
struct Heads {
  std::int64_t count = 1;
  std::int64_t width = 1;
};

/// y[r,:] = scales.rows[r] · Σ scales.columns[c] · x[c,:] over r's entries; 0 for an empty row.
/// x is columns x width, y is rows x width.
template <class Executor>
void spmm(Executor& executor, const SparseRows& a, const Scales& scales, const float* x, std::int64_t width,
          float* y);

/// y[r,h,:] = Σ weights[e,h] · x[c,h,:] over r's entries, e the entry's edge; 0 for an empty row.
/// weights is edges x heads, x is columns x heads x width, y is rows x heads x width.
template <class Executor>
void spmm_weighted(Executor& executor, const SparseRows& a, const Heads& heads, const float* weights,
                   const float* x, float* y);

/// y[r,h] = Σ values[e,h] over the edges of r's entries; 0 for an empty row. values is edges x heads.
template <class Executor>
void sum_edges(Executor& executor, const SparseRows& a, std::int64_t heads, const float* values, float* y);

/// Writes the row of each entry, -1 for those of no row.
template <class Executor>
void rows_of_entries(Executor& executor, const SparseRows& a, std::int32_t* row_of_entry);

// The next four are of a block by destinations (entry i is edge i), whose rows_of_entries they take.

/// y[e,h] = row_scores[r,h] + column_scores[c,h] for each entry.
template <class Executor>
void sddmm_add(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, std::int64_t heads,
               const float* row_scores, const float* column_scores, float* y);

/// y[e,h] = row_values[r,h,:] · column_values[c,h,:] (dot product) for each entry.
template <class Executor>
void sddmm_dot(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, const Heads& heads,
               const float* row_values, const float* column_values, float* y);

/// y[e,h] = exp(logits[e,h]) / Σ exp(logits[e',h]) over the entries e' of e's row, computed relative to their
/// maximum.
template <class Executor>
void edge_softmax(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                  std::int64_t heads, const float* logits, float* y);

/// softmax[e,h] · (gradient[e,h] − Σ softmax[e',h] · gradient[e',h]).
template <class Executor>
void edge_softmax_backward(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                           std::int64_t heads, const float* softmax, const float* gradient, float* y);

/// Writes 1 / (number of the row's entries), 0 for an empty row.
template <class Executor>
void inverse_degrees(Executor& executor, const SparseRows& a, float* inverse);

/// A block by sources, as cpu::TransposedBlock; its padding is the block's.
struct Transposed {
  std::int64_t* indptr;        ///< num_sources + 1
  std::int32_t* destinations;  ///< of each entry
  std::int32_t* edges;         ///< of each entry
};

/// Writes the block by sources, the edges of one in the order of the block. Beside what every executor has,
/// this one's type finds a stable sort by keys of 0 … most:
///     void sort_by_key(Executor&, std::int32_t most, std::int64_t count, const std::int32_t* keys,
///                      std::int32_t* sorted_keys, const std::int32_t* values, std::int32_t* sorted_values);
template <class Executor>
void transpose(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
               std::int64_t num_sources, const Transposed& transposed);

/// Writes the block with an edge from each destination to itself, at the end of its row, unless it has one:
/// `indptr` of as many rows, `columns` of num_entries + num_rows, the last ones of no row. How many these are
/// is not asked for: the host need not wait.
template <class Executor>
void with_self_loops(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                     std::int64_t* indptr, std::int32_t* columns);

}  // namespace gnomon::kernels::device
