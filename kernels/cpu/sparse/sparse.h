#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "kernels/dropout_rule.h"

/// Sparse kernels on a block or its transpose, in fp32. Dense arguments are row-major. Each call computes the
/// rows in `range` (or their entries) and writes nothing else, so that disjoint ranges may run concurrently.
/// Every row is computed independently, in the order of its entries: the result's bits depend neither on the
/// ranges nor on the threads. Sums of more than 256 entries are accumulated in fp64, so that rows of any
/// degree have fp32 accuracy.
namespace gnomon::kernels::cpu {

/// Scale factors of an SpMM's rows and columns; an empty span stands for ones.
struct Scales {
  std::span<const float> rows;
  std::span<const float> columns;
};

/// The number of attention heads and of values per head.
struct Heads {
  std::int64_t count = 1;
  std::int64_t width = 1;
};

/// SpMM: y[r,:] = scales.rows[r] · Σ scales.columns[c] · x[c,:] over r's entries; 0 for an empty row.
/// x is columns x width, y is rows x width.
void spmm(const SparseRows& a, RowRange range, const Scales& scales, std::span<const float> x,
          std::int64_t width, std::span<float> y);

/// Feature rows of a mini-batch's vertices in the feature store, in any of its element types: row c is that
/// of vertex vertices[c], or of vertex c without `vertices`. `kept` applies dropout; its elements are indexed
/// as in a gathered copy.
struct StoredRows {
  graph::Features features;
  std::span<const graph::VertexId> vertices;
  KeptElements kept;
};

/// SpMM that reads features in the store, without gathering them first; y is rows x features.columns. The
/// result has the bits of gathering, converting to fp32, dropout and spmm in sequence.
void spmm_stored(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x,
                 std::span<float> y);

/// SpMM with edge weights: y[r,h,:] = Σ weights[e,h] · x[c,h,:] over r's entries, where e is the entry's
/// edge; 0 for an empty row. weights is edges x heads, x is columns x heads x width, y is rows x heads x
/// width.
void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> weights,
                   std::span<const float> x, std::span<float> y);

/// SpMM by the transpose, without making it: y[c,:] += Σ values[e] · x[r,:] over the entries e of the rows r
/// in `rows` that are in a column c in `columns`, summed in fp32 in the order of the rows. Writes these rows
/// of y only, so that disjoint ranges of columns may run concurrently; the bits do not depend on the ranges
/// of columns. x is rows x width, y is columns x width; no values stand for ones. Precondition: columns
/// ascend in each row, and entry i is edge i.
void spmm_transposed(const SparseRows& a, RowRange rows, RowRange columns, std::span<const float> values,
                     std::span<const float> x, std::int64_t width, std::span<float> y);

/// Sums edge values by row: y[r,h] = Σ values[e,h] over the edges of r's entries; 0 for an empty row. values
/// is edges x heads.
void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> values,
               std::span<float> y);

/// SDDMM with addition: y[e,h] = row_scores[r,h] + column_scores[c,h] for each entry.
void sddmm_add(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> row_scores,
               std::span<const float> column_scores, std::span<float> y);

/// SDDMM with dot products: y[e,h] = row_values[r,h,:] · column_values[c,h,:] for each entry.
void sddmm_dot(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> row_values,
               std::span<const float> column_values, std::span<float> y);

/// Softmax over each row's edges: y[e,h] = exp(logits[e,h]) / Σ exp(logits[e',h]) over the edges e' of e's
/// row. The row's maximum is subtracted first, so that no finite logit overflows.
void edge_softmax(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> logits,
                  std::span<float> y);

/// The gradient of edge_softmax with respect to its logits: softmax[e,h] · (gradient[e,h] − Σ softmax[e',h] ·
/// gradient[e',h]).
void edge_softmax_backward(const SparseRows& a, RowRange range, std::int64_t heads,
                           std::span<const float> softmax, std::span<const float> gradient,
                           std::span<float> y);

}  // namespace gnomon::kernels::cpu
