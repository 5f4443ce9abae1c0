#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "kernels/dropout_rule.h"

/// Sparse kernels over a block or its transpose, in fp32. Dense arguments are row-major. Each call computes
/// the rows of `range` (or their entries) and writes nothing else, so callers may run ranges side by side.
/// Every row is computed alone, in the order of its entries: the bits depend neither on ranges nor on
/// threads. Sums over more than 256 entries go on in double precision, so hubs of any degree keep fp32
/// accuracy.
namespace gnomon::kernels::cpu {

/// Factors of an SpMM's rows and columns; an empty span means ones.
struct Scales {
  std::span<const float> rows;
  std::span<const float> columns;
};

/// How many attention heads, and how many values each has.
struct Heads {
  std::int64_t count = 1;
  std::int64_t width = 1;
};

/// y[r,:] = scales.rows[r] · Σ scales.columns[c] · x[c,:] over r's entries; 0 for an empty row.
/// x is columns x width, y is rows x width.
void spmm(const SparseRows& a, RowRange range, const Scales& scales, std::span<const float> x,
          std::int64_t width, std::span<float> y);

/// Rows where the feature store has them, of any of its types: row c is that of vertices[c], of which
/// elements may be dropped, numbered as in a gathered copy.
struct StoredRows {
  graph::Features features;
  std::span<const graph::VertexId> vertices;
  KeptElements kept;
};

/// spmm straight from the feature store, without a gathered copy; y is rows x features.columns. The bits are
/// those of gathering, converting to fp32, dropout and spmm one by one.
void spmm_stored(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x,
                 std::span<float> y);

/// y[r,h,:] = Σ weights[e,h] · x[c,h,:] over r's entries, e the entry's edge; 0 for an empty row.
/// weights is edges x heads, x is columns x heads x width, y is rows x heads x width.
void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> weights,
                   std::span<const float> x, std::span<float> y);

/// y[r,h] = Σ values[e,h] over the edges of r's entries; 0 for an empty row. values is edges x heads.
void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> values,
               std::span<float> y);

/// y[e,h] = row_scores[r,h] + column_scores[c,h] for each entry.
void sddmm_add(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> row_scores,
               std::span<const float> column_scores, std::span<float> y);

/// y[e,h] = row_values[r,h,:] · column_values[c,h,:] (dot product) for each entry.
void sddmm_dot(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> row_values,
               std::span<const float> column_values, std::span<float> y);

/// y[e,h] = exp(logits[e,h]) / Σ exp(logits[e',h]) over the entries e' of e's row, computed relative to their
/// maximum so that no finite logit overflows.
void edge_softmax(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> logits,
                  std::span<float> y);

/// The gradient of edge_softmax by its logits: softmax[e,h] · (gradient[e,h] − Σ softmax[e',h] ·
/// gradient[e',h]).
void edge_softmax_backward(const SparseRows& a, RowRange range, std::int64_t heads,
                           std::span<const float> softmax, std::span<const float> gradient,
                           std::span<float> y);

}  // namespace gnomon::kernels::cpu
