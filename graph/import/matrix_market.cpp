#include "graph/import/matrix_market.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "graph/import/arrays.h"
#include "graph/import/line_reader.h"
#include "graph/import/parse_edges.h"
#include "graph/import/split_files.h"

namespace gnomon::graph {
namespace {

/// Parses the weight behind the ids. Throws InputError if it is invalid.
void take_weight(const LineReader& reader, std::string_view line, std::string_view& rest, float& weight) {
  if (!take_float(rest, weight) || !std::isfinite(weight) || weight < 0) {
    reader.fail_expected("two vertex ids and a weight, finite and not negative", line);
  }
}

struct MatrixHeader {
  std::int64_t size = 0;
  std::int64_t entries = 0;
  bool symmetric = false;
  bool has_values = false;
};

/// Reads the banner, the comments and the size line.
MatrixHeader read_matrix_header(LineReader& reader) {
  std::string_view line;
  if (!reader.next(line)) {
    reader.fail("must be \"%%MatrixMarket matrix coordinate …\", not the end of the file");
  }
  std::string text(line);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  std::istringstream words(text);
  std::string banner, object, layout, field, symmetry;
  words >> banner >> object >> layout >> field >> symmetry;
  const bool known = banner == "%%matrixmarket" && object == "matrix" && layout == "coordinate" &&
                     (field == "pattern" || field == "real" || field == "integer") &&
                     (symmetry == "general" || symmetry == "symmetric");
  if (!known) {
    reader.fail_expected("\"%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric\"", line);
  }
  do {
    if (!reader.next(line)) {
      reader.fail("must be followed by \"rows columns entries\", not the end of the file");
    }
  } while (line.empty() || line[0] == '%');
  MatrixHeader header;
  std::int64_t columns = 0;
  std::string_view rest = line;
  if (!take_integer(rest, header.size) || !take_integer(rest, columns) ||
      !take_integer(rest, header.entries) || header.size < 0 || header.entries < 0) {
    reader.fail_expected("\"rows columns entries\"", line);
  }
  if (constexpr std::int64_t max_size = std::int64_t{1} << 40; header.size > max_size) {
    reader.fail("a matrix may have at most " + std::to_string(max_size) + " rows");
  }
  if (header.size != columns) {
    reader.fail("the matrix must be square, not " + std::to_string(header.size) + " by " +
                std::to_string(columns));
  }
  header.symmetric = symmetry == "symmetric";
  header.has_values = field != "pattern";
  return header;
}

/// Appends the edges of the entries in these lines. Returns the number of entries.
std::int64_t parse_entries(LineReader& reader, const MatrixHeader& header, bool weighted,
                           std::vector<Edge>& edges) {
  const auto in_range = [&](VertexId id) { return id >= 1 && id <= header.size; };
  std::int64_t entries = 0;
  for (std::string_view line; reader.next(line);) {
    if (line.find_first_not_of(" \t") == std::string_view::npos || line[0] == '%') {
      continue;
    }
    VertexId row = 0;
    VertexId column = 0;
    float weight = 1;
    std::string_view rest = line;
    if (!take_integer(rest, row) || !take_integer(rest, column) || !in_range(row) || !in_range(column)) {
      reader.fail_expected("row and column from 1 to " + std::to_string(header.size), line);
    }
    if (weighted) {
      take_weight(reader, line, rest, weight);
    }
    edges.push_back({row - 1, column - 1, weight});
    if (header.symmetric && row != column) {
      edges.push_back({column - 1, row - 1, weight});
    }
    ++entries;
  }
  return entries;
}

EdgeStream matrix_edges(const std::string& path, bool weighted) {
  return [path, weighted](const EdgeVisitor& visit) {
    LineReader reader(path);
    const MatrixHeader header = read_matrix_header(reader);
    std::atomic<std::int64_t> entries{0};
    const auto parse = [&](LineReader& lines, std::vector<Edge>& edges) {
      entries += parse_entries(lines, header, weighted, edges);
    };
    parse_edges(std::move(reader), path, parse, visit);
    if (entries != header.entries) {
      throw base::InputError(path, "has " + std::to_string(entries) + " entries; its header says " +
                                       std::to_string(header.entries));
    }
  };
}

}  // namespace

GraphSource open_matrix_market(const ImportOptions& options) {
  GraphSource source;
  source.where = options.source;
  source.weighted = options.takes_given_weights();
  LineReader reader(options.source);
  const MatrixHeader header = read_matrix_header(reader);
  if (source.weighted && !header.has_values) {
    throw base::InputError(options.source, "is a pattern without values; it has no weights");
  }
  source.num_vertices = header.size;
  source.edges = matrix_edges(options.source, source.weighted);
  add_given_arrays(source, options);
  source.split = read_split_files(options, VertexIds::unchanged(source.num_vertices));
  return source;
}

}  // namespace gnomon::graph
