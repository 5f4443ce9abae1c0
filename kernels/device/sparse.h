#pragma once

#include <cstdint>
#include <limits>

#include "kernels/device/executor.h"

// Also compiled by nvcc as C++17.

/// The sparse kernels of kernels/cpu/sparse/sparse.h on a device, in fp32. The results equal the CPU's within
/// rounding and have the same bits in every run. Dense arguments are row-major.
namespace gnomon::kernels::device {

/// A view of a sparse matrix in CSR form, as cpu::SparseRows, in device memory. Entries from indptr[num_rows]
/// on are padding, which belongs to no row; results for them are undefined.
struct SparseRows {
  std::int64_t num_rows = 0;
  std::int64_t num_entries = 0;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* columns = nullptr;
  const std::int32_t* edges = nullptr;  ///< null: entry i is edge i
  /// Upper bound of a row's entries, if known.
  std::int64_t max_row_entries = std::numeric_limits<std::int64_t>::max();
};

/// Scale factors of an SpMM's rows and columns; null stands for ones.
struct Scales {
  const float* rows = nullptr;
  const float* columns = nullptr;
};

/// The number of attention heads and of values per head.
struct Heads {
  std::int64_t count = 1;
  std::int64_t width = 1;
};

/// y[r,:] = scales.rows[r] · Σ scales.columns[c] · x[c,:] over r's entries; 0 for an empty row.
/// x is columns x width, y is rows x width.
template <class Executor>
void spmm(Executor& executor, const SparseRows& a, const Scales& scales, const float* x, std::int64_t width,
          float* y);

/// y[r,:] = x[r,:] followed by the mean of x[c,:] over r's entries, 0 for an empty row: the operand of a
/// GraphSAGE layer's product. Rows are a block's destinations, which are the first columns. x is columns x
/// width, y is rows x 2 · width.
template <class Executor>
void own_and_mean(Executor& executor, const SparseRows& a, const float* x, std::int64_t width, float* y);

/// The gradient of own_and_mean with respect to x (columns x width), given that with respect to y.
/// `transposed` has the block's sources as rows, `a` its destinations.
template <class Executor>
void own_and_mean_gradient(Executor& executor, const SparseRows& transposed, const SparseRows& a,
                           const float* gradient, std::int64_t width, float* x_gradient);

/// y[r,h,:] = Σ weights[e,h] · x[c,h,:] over r's entries, where e is the entry's edge; 0 for an empty row.
/// weights is edges x heads, x is columns x heads x width, y is rows x heads x width.
template <class Executor>
void spmm_weighted(Executor& executor, const SparseRows& a, const Heads& heads, const float* weights,
                   const float* x, float* y);

/// y[r,h] = Σ values[e,h] over the edges of r's entries; 0 for an empty row. values is edges x heads.
template <class Executor>
void sum_edges(Executor& executor, const SparseRows& a, std::int64_t heads, const float* values, float* y);

/// Writes the row of each entry, -1 for padding.
template <class Executor>
void rows_of_entries(Executor& executor, const SparseRows& a, std::int32_t* row_of_entry);

// The next four functions require that rows are a block's destinations (entry i is edge i), and take the
// result of rows_of_entries.

/// y[e,h] = row_scores[r,h] + column_scores[c,h] for each entry.
template <class Executor>
void sddmm_add(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, std::int64_t heads,
               const float* row_scores, const float* column_scores, float* y);

/// y[e,h] = row_values[r,h,:] · column_values[c,h,:] (dot product) for each entry.
template <class Executor>
void sddmm_dot(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, const Heads& heads,
               const float* row_values, const float* column_values, float* y);

/// y[e,h] = exp(logits[e,h]) / Σ exp(logits[e',h]) over the edges e' of e's row; the row's maximum is
/// subtracted first.
template <class Executor>
void edge_softmax(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                  std::int64_t heads, const float* logits, float* y);

/// The gradient of edge_softmax with respect to its logits: softmax[e,h] · (gradient[e,h] − Σ softmax[e',h] ·
/// gradient[e',h]).
template <class Executor>
void edge_softmax_backward(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                           std::int64_t heads, const float* softmax, const float* gradient, float* y);

/// Writes 1 / (number of entries) of each row, 0 for an empty row.
template <class Executor>
void inverse_degrees(Executor& executor, const SparseRows& a, float* inverse);

/// The transpose of a block, as cpu::TransposedBlock, with the block's padding.
struct Transposed {
  std::int64_t* indptr;        ///< num_sources + 1
  std::int32_t* destinations;  ///< of each entry
  std::int32_t* edges;         ///< of each entry
};

/// Transposes a block; the edges of a source keep the order of the block. Beside the executor's members,
/// argument-dependent lookup must find a stable sort by keys in 0 … max_key:
///     void sort_by_key(Executor&, std::int32_t max_key, std::int64_t count, const std::int32_t* keys,
///                      std::int32_t* sorted_keys, const std::int32_t* values, std::int32_t* sorted_values);
template <class Executor>
void transpose(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
               std::int64_t num_sources, const Transposed& transposed);

/// A block, where its transpose goes and, if not null, the result of missing_loops.
struct BlockToTranspose {
  SparseRows rows;
  std::int64_t num_sources = 0;
  Transposed transposed{};
  std::int64_t* loops = nullptr;
};

/// Limits of transpose_together: the number of blocks, and the number of edges up to which it is faster.
inline constexpr int max_blocks_together = 8;
inline constexpr std::int64_t max_edges_together = std::int64_t{1} << 18;

/// transpose() of several blocks by fewer launches, with the same results. Takes quadratic time in a source's
/// edges, so it is for small blocks.
template <class Executor>
void transpose_together(Executor& executor, const BlockToTranspose* blocks, int count);

/// Counts the destinations without a self-loop: loops[v] of them are before v, for each v in 0 … num_rows.
/// Takes time proportional to the longest row.
template <class Executor>
void missing_loops(Executor& executor, const SparseRows& a, std::int64_t* loops);

/// Writes the block with a self-loop at the end of the row of each destination that has none. `indptr` has as
/// many rows; `columns` has num_entries + num_rows elements, the last of which are padding. The number of
/// padding entries is not read back, which avoids a synchronisation.
template <class Executor>
void with_self_loops(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                     std::int64_t* indptr, std::int32_t* columns);

}  // namespace gnomon::kernels::device
