#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/import/source.h"
#include "graph/import/zip_archive.h"

/// Sparse matrices in an archive: PREFIX and the names indptr, indices, data and shape, as SciPy has them.
namespace gnomon::graph {

/// The row pointers of a sparse matrix; column indices and values stay in the archive.
struct SparseRows {
  std::shared_ptr<const std::vector<std::int64_t>> indptr;
  std::int64_t columns = 0;
  std::int64_t rows() const { return static_cast<std::int64_t>(indptr->size()) - 1; }
};

/// Reads PREFIXindptr and PREFIXshape and checks them against each other. Throws InputError.
SparseRows read_sparse_rows(const ZipArchive& archive, const std::string& prefix);

/// Whether the pointers of a square matrix are those of its rows (CSR) or its columns (CSC).
enum class Major : std::uint8_t { rows, columns };

/// Returns an edge from i to j for each entry in row i and column j of a square matrix, in the archive's
/// order.
EdgeStream sparse_edges(const ZipArchive& archive, const std::string& prefix, const SparseRows& matrix,
                        Major major);

/// Returns sparse rows as a stream of dense ones; duplicate entries are added up. The stream throws
/// InputError for a column that is out of range.
RowStream sparse_features(const ZipArchive& archive, const std::string& prefix, const SparseRows& matrix);

}  // namespace gnomon::graph
