#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.h"
#include "kernels/block.h"

namespace gnomon::kernels::cpu {

/// A view of a sparse matrix in CSR form. Row r has the entries indptr[r] … indptr[r+1]-1; entry i is in
/// column columns[i] and belongs to the block's edge edges[i], or to edge i if `edges` is empty.
struct SparseRows {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> columns;
  std::span<const std::int32_t> edges;

  std::int64_t num_rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(columns.size()); }
};

/// The transpose of a block: source u has the destinations destinations[indptr[u]] …
/// destinations[indptr[u+1]-1], in the order of the block's edges. `edges` holds each entry's edge in the
/// block.
struct TransposedBlock {
  std::vector<std::int64_t> indptr;  ///< num_sources + 1
  std::vector<std::int32_t> destinations;
  std::vector<std::int32_t> edges;
};

/// Memory for the content of a TransposedBlock: num_sources + 1 elements of indptr, and one per entry of the
/// others.
struct TransposedSpans {
  std::span<std::int64_t> indptr;
  std::span<std::int32_t> destinations;
  std::span<std::int32_t> edges;
};

/// Transposes a block, given its rows (rows_of), by counting sort in linear time. Precondition: there are
/// fewer than 2^31 entries.
void transpose(const SparseRows& rows, const TransposedSpans& transposed);
/// Parallel version on fork_join(parts, body), with the same result. `places` is scratch memory of `parts`
/// elements per source.
void transpose(const SparseRows& rows, const TransposedSpans& transposed, std::span<std::int32_t> places,
               int parts, const base::ForkJoin& fork_join);
/// Transposes a block into new memory.
TransposedBlock transpose(const SparseRows& rows, std::int64_t num_sources);

/// Returns a view whose rows are destinations and whose columns are sources. The block must outlive it.
SparseRows rows_of(const Block& block);
/// Returns a view whose rows are sources and whose columns are destinations. The transposed block must
/// outlive it.
SparseRows rows_of(const TransposedBlock& transposed);

/// Returns 1 / (number of entries) of each row, 0 for an empty row: the row scales of a mean.
std::vector<float> inverse_degrees(std::span<const std::int64_t> indptr);

/// The rows, or columns, first … last-1.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Splits all rows into `parts` consecutive, possibly empty ranges of nearly equal work, where the work of a
/// row is its number of entries plus one. Rows are not divided. Precondition: parts >= 1.
std::vector<RowRange> balanced_ranges(std::span<const std::int64_t> indptr, std::int64_t parts);

/// Splits the columns 0 … num_columns-1 into `parts` consecutive, possibly empty ranges of nearly equal
/// numbers of entries, as a sample of the rows has them. Precondition: parts >= 1.
std::vector<RowRange> balanced_columns(const SparseRows& rows, std::int64_t num_columns, std::int64_t parts);

}  // namespace gnomon::kernels::cpu
