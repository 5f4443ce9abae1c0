#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block.h"

namespace gnomon::kernels::cpu {

/// A sparse matrix by rows, as the sparse kernels read it. Row r has the entries indptr[r] … indptr[r+1]-1;
/// entry i lies in columns[i] and belongs to the block's edge edges[i] (to edge i when `edges` is empty).
struct SparseRows {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> columns;
  std::span<const std::int32_t> edges;

  std::int64_t num_rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(columns.size()); }
};

/// A block by sources: source u feeds destinations[indptr[u]] … destinations[indptr[u+1]-1], in the order of
/// the block's edges, whose numbers are in `edges`.
struct TransposedBlock {
  std::vector<std::int64_t> indptr;  ///< num_sources + 1
  std::vector<std::int32_t> destinations;
  std::vector<std::int32_t> edges;
};

/// Memory for a TransposedBlock's content: indptr for num_sources + 1, the others for all entries.
struct TransposedSpans {
  std::span<std::int64_t> indptr;
  std::span<std::int32_t> destinations;
  std::span<std::int32_t> edges;
};

/// Writes a block's rows (rows_of) by sources (counting sort; time linear in their size). They have fewer
/// than 2^31 entries.
void transpose(const SparseRows& rows, const TransposedSpans& transposed);
/// The same into memory of its own.
TransposedBlock transpose(const SparseRows& rows, std::int64_t num_sources);

/// Rows are destinations, columns are sources. The vectors must outlive the view.
SparseRows rows_of(const Block& block);
/// Rows are sources, columns are destinations. The vectors must outlive the view.
SparseRows rows_of(const TransposedBlock& transposed);

/// 1 / (number of the row's entries), 0 for an empty row: the row scales of a mean.
std::vector<float> inverse_degrees(std::span<const std::int64_t> indptr);

/// Rows first … last-1.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Cuts all rows into `parts` (at least 1) consecutive ranges, some perhaps empty, of nearly equal work: a
/// row's is its entries and one more. A row is never cut.
std::vector<RowRange> balanced_ranges(std::span<const std::int64_t> indptr, std::int64_t parts);

}  // namespace gnomon::kernels::cpu
