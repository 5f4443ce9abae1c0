#include <algorithm>
#include <memory>

#include "base/error.h"
#include "graph/import/importers.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {
namespace {

/// The row pointers of a sparse matrix; column indices and values stay in the archive.
struct CsrRows {
  std::shared_ptr<const std::vector<std::int64_t>> indptr;
  std::int64_t columns = 0;
  std::int64_t rows() const { return static_cast<std::int64_t>(indptr->size()) - 1; }
};

/// Reads PREFIX_indptr and PREFIX_shape and checks them against each other.
CsrRows read_csr_rows(const ZipArchive& archive, const std::string& prefix) {
  const auto shape = read_all<std::int64_t>(archive.array(prefix + "_shape"), 2);
  const std::string where = archive.where(prefix + "_indptr");
  const auto indptr = read_all<std::int64_t>(archive.array(prefix + "_indptr"), shape[0] + 1);
  const std::int64_t entries = archive.array(prefix + "_indices").elements();
  if (indptr.front() != 0 || indptr.back() != entries) {
    throw base::InputError(where, "must begin with 0 and end with " + std::to_string(entries));
  }
  const auto falling = std::adjacent_find(indptr.begin(), indptr.end(), std::greater<>());
  if (falling != indptr.end()) {
    throw base::InputError(where, "not monotone at position " + std::to_string(falling - indptr.begin() + 1));
  }
  return {std::make_shared<const std::vector<std::int64_t>>(indptr), shape[1]};
}

EdgeStream sparse_edges(const ZipArchive& archive, const CsrRows& matrix) {
  return [archive, matrix](const EdgeVisitor& visit) {
    Elements<std::int64_t> columns(archive.array("adj_indices"));
    EdgeBlocks blocks(visit);
    for (VertexId row = 0; row < matrix.rows(); ++row) {
      const auto* const bounds = matrix.indptr->data() + row;
      for (std::int64_t left = bounds[1] - bounds[0]; left > 0; --left) {
        blocks.push({row, columns.next()});
      }
    }
    blocks.flush();
  };
}

/// Returns sparse rows as a stream of dense ones; duplicate entries are added up.
RowStream sparse_features(const ZipArchive& archive, const CsrRows& matrix) {
  return [archive, matrix](const RowVisitor& visit) {
    Elements<std::int64_t> columns(archive.array("attr_indices"));
    Elements<float> values(archive.array("attr_data"));
    std::vector<float> row(static_cast<std::size_t>(matrix.columns));
    for (VertexId vertex = 0; vertex < matrix.rows(); ++vertex) {
      std::fill(row.begin(), row.end(), 0.0F);
      const auto* const bounds = matrix.indptr->data() + vertex;
      for (std::int64_t left = bounds[1] - bounds[0]; left > 0; --left) {
        const std::int64_t column = columns.next();
        if (column < 0 || column >= matrix.columns) {
          throw base::InputError(archive.where("attr_indices"),
                                 "column " + std::to_string(column) + " in row " + std::to_string(vertex) +
                                     " is out of range; use 0 to " + std::to_string(matrix.columns - 1));
        }
        row[static_cast<std::size_t>(column)] += values.next();
      }
      visit(row);
    }
  };
}

/// Returns the vertices of row `mask` in a Boolean array (vertices) or (masks × vertices).
std::vector<VertexId> masked(const ZipArchive& archive, const std::string& name, std::int64_t mask,
                             std::int64_t num_vertices) {
  NpyStream stream = archive.array(name);
  const std::int64_t masks = stream.shape().size() == 2 ? stream.rows() : 1;
  if (stream.elements() != masks * num_vertices) {
    throw base::InputError(
        stream.where(), "must have one value for each of the " + std::to_string(num_vertices) + " vertices");
  }
  if (mask >= masks) {
    throw base::InputError(stream.where(),
                           "has no mask " + std::to_string(mask) + "; use 0 to " + std::to_string(masks - 1));
  }
  Elements<std::int64_t> values(std::move(stream), mask * num_vertices);
  std::vector<VertexId> vertices;
  for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
    if (values.next() != 0) {
      vertices.push_back(vertex);
    }
  }
  return vertices;
}

/// Reads the split masks of the sparse layout (`plural` "") or the plain one (`plural` "s").
Split given_split(const ZipArchive& archive, const std::string& plural, std::int64_t mask,
                  std::int64_t num_vertices) {
  if (!archive.has("train_mask" + plural)) {
    return {};
  }
  return {masked(archive, "train_mask" + plural, mask, num_vertices),
          masked(archive, "val_mask" + plural, mask, num_vertices),
          masked(archive, "test_mask" + plural, mask, num_vertices)};
}

GraphSource open_sparse_layout(const ZipArchive& archive) {
  GraphSource source;
  const CsrRows adjacency = read_csr_rows(archive, "adj");
  source.num_vertices = adjacency.rows();
  if (adjacency.columns != adjacency.rows()) {
    throw base::InputError(archive.where("adj_shape"), "must be square");
  }
  source.edges = sparse_edges(archive, adjacency);
  if (archive.has("attr_indptr")) {
    const CsrRows attributes = read_csr_rows(archive, "attr");
    if (attributes.rows() != source.num_vertices || attributes.columns == 0) {
      throw base::InputError(
          archive.where("attr_shape"),
          "must have one row for each of the " + std::to_string(source.num_vertices) + " vertices");
    }
    source.feature_columns = attributes.columns;
    source.features = sparse_features(archive, attributes);
    source.features_where = archive.where("attr_data");
  } else if (archive.has("attr_matrix")) {
    add_features(source, [archive] { return archive.array("attr_matrix"); });
  }
  if (archive.has("labels")) {
    source.labels = labels_of(archive.array("labels"), source.num_vertices);
  }
  return source;
}

GraphSource open_plain_layout(const ZipArchive& archive) {
  GraphSource source;
  const char* const sized = archive.has("node_features") ? "node_features" : "node_labels";
  source.num_vertices = archive.array(sized).rows();
  source.edges = edges_of([archive] { return archive.array("edges"); }, Square::pairs);
  if (archive.has("node_features")) {
    add_features(source, [archive] { return archive.array("node_features"); });
  }
  if (archive.has("node_labels")) {
    source.labels = labels_of(archive.array("node_labels"), source.num_vertices);
  }
  return source;
}

}  // namespace

GraphSource open_npz(const ImportOptions& options) {
  const ZipArchive archive(options.source);
  const bool sparse = archive.has("adj_indptr");
  if (!sparse && !archive.has("edges")) {
    throw base::InputError(options.source,
                           "has neither adj_indptr nor edges; it is in none of the known npz layouts");
  }
  GraphSource source = sparse ? open_sparse_layout(archive) : open_plain_layout(archive);
  source.where = options.source;
  if (options.takes_given_weights()) {
    add_weights(source, [archive, sparse] { return archive.array(sparse ? "adj_data" : "edge_weights"); });
  }
  const std::string plural = archive.has("train_masks") ? "s" : "";
  source.split = given_split(archive, plural, options.mask, source.num_vertices);
  return source;
}

}  // namespace gnomon::graph
