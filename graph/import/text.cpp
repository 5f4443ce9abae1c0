#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "graph/import/importers.h"
#include "graph/import/line_reader.h"

namespace gnomon::graph {
namespace {

// Edge lists

/// Parses the weight behind the ids. Throws InputError if it is invalid.
void take_weight(const LineReader& reader, std::string_view line, std::string_view& rest, float& weight) {
  if (!take_float(rest, weight) || !std::isfinite(weight) || weight < 0) {
    reader.fail_expected("two vertex ids and a weight, finite and not negative", line);
  }
}

/// Calls put(edge) for every line that is not a comment. With `weighted`, reads the weight behind the ids.
template <class Put>
void for_each_line_edge(const std::string& path, bool weighted, Put put) {
  LineReader reader(path);
  std::string_view line;
  while (reader.next(line)) {
    std::string_view rest = line;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty() || rest[0] == '#' || rest[0] == '%') {
      continue;
    }
    Edge edge;
    if (!take_integer(rest, edge.source) || !take_integer(rest, edge.destination)) {
      reader.fail_expected("two vertex ids (comments begin with #)", line);
    }
    if (edge.source < 0 || edge.destination < 0) {
      reader.fail_expected("two vertex ids that are not negative", line);
    }
    if (weighted) {
      take_weight(reader, line, rest, edge.weight);
    }
    put(edge);
  }
}

/// Returns the distinct ids, ascending. Holds at most twice their number, or one million, in memory.
std::vector<VertexId> distinct_ids(const std::string& path) {
  std::vector<VertexId> ids;
  std::size_t limit = std::size_t{1} << 20;
  const auto compact = [&] {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    limit = std::max(limit, 2 * ids.size());
  };
  for_each_line_edge(path, false, [&](const Edge& edge) {
    ids.push_back(edge.source);
    ids.push_back(edge.destination);
    if (ids.size() >= limit) {
      compact();
    }
  });
  compact();
  return ids;
}

EdgeStream relabelled_edges(const std::string& path, bool weighted, const std::vector<VertexId>& ids) {
  return
      [path, weighted, ids = std::make_shared<const std::vector<VertexId>>(ids)](const EdgeVisitor& visit) {
        const auto rank = [&](VertexId id) {
          return std::lower_bound(ids->begin(), ids->end(), id) - ids->begin();
        };
        EdgeBlocks blocks(visit);
        for_each_line_edge(path, weighted, [&](const Edge& edge) {
          blocks.push({rank(edge.source), rank(edge.destination), edge.weight});
        });
        blocks.flush();
      };
}

/// Returns the number of vertices if ids are used unchanged: the maximum of the largest id plus one and the
/// numbers of features and labels.
std::int64_t count_vertices(const ImportOptions& options, const base::Progress& progress) {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  for_each_line_edge(options.source, false, [&](const Edge& edge) {
    vertices = std::max({vertices, edge.source + 1, edge.destination + 1});
    if (++edges % (1 << 16) == 0) {
      base::report(progress, "reading edges", edges, 0);
    }
  });
  // Sparse ids waste memory, or they are not consecutive numbers at all.
  if (vertices > 1'000'000 && vertices / 64 > edges) {
    throw base::InputError(options.source, "has vertex id " + std::to_string(vertices - 1) + " but only " +
                                               std::to_string(edges) + " edges; use relabel");
  }
  for (const auto& file : {options.features, options.labels}) {
    vertices = file.empty() ? vertices : std::max(vertices, open_npy_stream(file).rows());
  }
  return vertices;
}

// Matrix Market

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
  if (header.size != columns) {
    reader.fail("the matrix must be square, not " + std::to_string(header.size) + " by " +
                std::to_string(columns));
  }
  header.symmetric = symmetry == "symmetric";
  header.has_values = field != "pattern";
  return header;
}

EdgeStream matrix_edges(const std::string& path, bool weighted) {
  return [path, weighted](const EdgeVisitor& visit) {
    LineReader reader(path);
    const MatrixHeader header = read_matrix_header(reader);
    const auto in_range = [&](VertexId id) { return id >= 1 && id <= header.size; };
    EdgeBlocks blocks(visit);
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
      blocks.push({row - 1, column - 1, weight});
      if (header.symmetric && row != column) {
        blocks.push({column - 1, row - 1, weight});
      }
      ++entries;
    }
    if (entries != header.entries) {
      throw base::InputError(path, "has " + std::to_string(entries) + " entries; its header says " +
                                       std::to_string(header.entries));
    }
    blocks.flush();
  };
}

}  // namespace

GraphSource open_edge_list(const ImportOptions& options, const base::Progress& progress) {
  GraphSource source;
  source.where = options.source;
  source.weighted = options.takes_given_weights();
  const bool weighted = source.weighted;
  if (options.relabel) {
    source.original_ids = distinct_ids(options.source);
    source.num_vertices = static_cast<std::int64_t>(source.original_ids.size());
    source.edges = relabelled_edges(options.source, weighted, source.original_ids);
  } else {
    source.num_vertices = count_vertices(options, progress);
    source.edges = [path = options.source, weighted](const EdgeVisitor& visit) {
      EdgeBlocks blocks(visit);
      for_each_line_edge(path, weighted, [&](const Edge& edge) { blocks.push(edge); });
      blocks.flush();
    };
  }
  add_given_arrays(source, options);
  return source;
}

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
  return source;
}

}  // namespace gnomon::graph
