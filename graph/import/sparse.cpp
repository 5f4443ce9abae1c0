#include "graph/import/sparse.h"

#include <algorithm>

#include "base/error.h"
#include "graph/import/edge_blocks.h"

namespace gnomon::graph {

SparseRows read_sparse_rows(const ZipArchive& archive, const std::string& prefix) {
  const auto shape = read_all<std::int64_t>(archive.array(prefix + "shape"), 2);
  constexpr std::int64_t max_size = std::int64_t{1} << 40;
  if (std::min(shape[0], shape[1]) < 0 || std::max(shape[0], shape[1]) > max_size) {
    throw base::InputError(archive.where(prefix + "shape"), "holds " + std::to_string(shape[0]) + " and " +
                                                                std::to_string(shape[1]) + "; use 0 to " +
                                                                std::to_string(max_size));
  }
  const std::string where = archive.where(prefix + "indptr");
  const auto indptr = read_all<std::int64_t>(archive.array(prefix + "indptr"), shape[0] + 1);
  const std::int64_t entries = archive.array(prefix + "indices").elements();
  if (indptr.front() != 0 || indptr.back() != entries) {
    throw base::InputError(where, "must begin with 0 and end with " + std::to_string(entries));
  }
  const auto falling = std::adjacent_find(indptr.begin(), indptr.end(), std::greater<>());
  if (falling != indptr.end()) {
    throw base::InputError(where, "not monotone at position " + std::to_string(falling - indptr.begin() + 1));
  }
  return {std::make_shared<const std::vector<std::int64_t>>(indptr), shape[1]};
}

EdgeStream sparse_edges(const ZipArchive& archive, const std::string& prefix, const SparseRows& matrix,
                        Major major) {
  return [=](const EdgeVisitor& visit) {
    Elements<std::int64_t> indices(archive.array(prefix + "indices"));
    EdgeBlocks blocks(visit);
    for (VertexId pointer = 0; pointer < matrix.rows(); ++pointer) {
      const auto* const bounds = matrix.indptr->data() + pointer;
      for (std::int64_t left = bounds[1] - bounds[0]; left > 0; --left) {
        const VertexId index = indices.next();
        blocks.push(major == Major::rows ? Edge{pointer, index} : Edge{index, pointer});
      }
    }
    blocks.flush();
  };
}

RowStream sparse_features(const ZipArchive& archive, const std::string& prefix, const SparseRows& matrix) {
  return [=](const RowVisitor& visit) {
    Elements<std::int64_t> columns(archive.array(prefix + "indices"));
    Elements<float> values(archive.array(prefix + "data"));
    std::vector<float> row(static_cast<std::size_t>(matrix.columns));
    for (VertexId vertex = 0; vertex < matrix.rows(); ++vertex) {
      std::fill(row.begin(), row.end(), 0.0F);
      const auto* const bounds = matrix.indptr->data() + vertex;
      for (std::int64_t left = bounds[1] - bounds[0]; left > 0; --left) {
        const std::int64_t column = columns.next();
        if (column < 0 || column >= matrix.columns) {
          throw base::InputError(archive.where(prefix + "indices"),
                                 "column " + std::to_string(column) + " in row " + std::to_string(vertex) +
                                     " is out of range; use 0 to " + std::to_string(matrix.columns - 1));
        }
        row[static_cast<std::size_t>(column)] += values.next();
      }
      visit(row);
    }
  };
}

}  // namespace gnomon::graph
