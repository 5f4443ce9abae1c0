#pragma once

#include "graph/import/source.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {

/// Whether an archive was written by scipy.sparse.save_npz.
bool is_scipy_matrix(const ZipArchive& archive);

/// Opens the adjacency matrix that scipy.sparse.save_npz wrote, in CSR, CSC or COO: an entry in row i and
/// column j is an edge from i to j. Throws InputError for another format and for a matrix that is not square.
GraphSource open_scipy_matrix(const ZipArchive& archive);

}  // namespace gnomon::graph
