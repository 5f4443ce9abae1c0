#include "graph/import/scipy.h"

#include <string>

#include "base/error.h"
#include "graph/import/edge_blocks.h"
#include "graph/import/sparse.h"

namespace gnomon::graph {
namespace {

/// Returns the matrix's format, "csr" for instance: the last bytes of format.npy, a scalar of bytes or of
/// four-byte characters (numpy.savez of a string).
std::string format_of(const ZipArchive& archive) {
  const std::string bytes = archive.bytes("format");
  const std::size_t header_end = bytes.rfind('\n');
  std::string format = header_end == std::string::npos ? "" : bytes.substr(header_end + 1);
  std::erase(format, '\0');
  if (format != "csr" && format != "csc" && format != "coo") {
    throw base::InputError(
        archive.where("format"),
        "is \"" + format.substr(0, 12) + "\"; save the matrix as CSR, CSC or COO (matrix.tocsr())");
  }
  return format;
}

EdgeStream coordinate_edges(const ZipArchive& archive) {
  return [archive](const EdgeVisitor& visit) {
    NpyStream rows = archive.array("row");
    NpyStream columns = archive.array("col");
    const std::int64_t entries = rows.elements();
    if (columns.elements() != entries) {
      throw base::InputError(columns.where(), "has " + std::to_string(columns.elements()) +
                                                  " numbers; must be " + std::to_string(entries) +
                                                  ", as row has");
    }
    Elements<std::int64_t> sources(std::move(rows));
    Elements<std::int64_t> destinations(std::move(columns));
    EdgeBlocks blocks(visit);
    for (std::int64_t entry = 0; entry < entries; ++entry) {
      const VertexId source = sources.next();
      blocks.push({source, destinations.next()});
    }
    blocks.flush();
  };
}

}  // namespace

bool is_scipy_matrix(const ZipArchive& archive) { return archive.has("format") && archive.has("shape"); }

GraphSource open_scipy_matrix(const ZipArchive& archive) {
  const std::string format = format_of(archive);
  const auto shape = read_all<std::int64_t>(archive.array("shape"), 2);
  if (shape[0] != shape[1]) {
    throw base::InputError(archive.where("shape"), "must be square, as an adjacency matrix is, not " +
                                                       std::to_string(shape[0]) + " by " +
                                                       std::to_string(shape[1]));
  }
  GraphSource source;
  source.num_vertices = shape[0];
  source.edges = format == "coo" ? coordinate_edges(archive)
                                 : sparse_edges(archive, "", read_sparse_rows(archive, ""),
                                                format == "csr" ? Major::rows : Major::columns);
  return source;
}

}  // namespace gnomon::graph
