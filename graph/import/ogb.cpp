#include "graph/import/ogb.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/import/arrays.h"
#include "graph/import/line_reader.h"
#include "graph/import/parse_edges.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {
namespace {

/// Calls use(reader, line) for every non-empty line of a .csv.gz file.
template <class Use>
void for_each_line(const std::filesystem::path& path, Use use) {
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    if (!line.empty()) {
      use(reader, line);
    }
  }
}

/// Reads a file with one integer per line.
std::vector<std::int64_t> read_integers(const std::filesystem::path& path) {
  std::vector<std::int64_t> numbers;
  for_each_line(path, [&](const LineReader& reader, std::string_view line) {
    std::string_view rest = line;
    if (!take_integer(rest, numbers.emplace_back()) || !rest.empty()) {
      reader.fail_expected("one integer", line);
    }
  });
  return numbers;
}

EdgeStream csv_edges(const std::filesystem::path& path) {
  return [path](const EdgeVisitor& visit) {
    const auto parse = [](LineReader& lines, std::vector<Edge>& edges) {
      for (std::string_view line; lines.next(line);) {
        Edge edge;
        std::string_view rest = line;
        if (line.empty()) {
          continue;
        }
        if (!take_integer(rest, edge.source) || !take_integer(rest, edge.destination) || !rest.empty()) {
          lines.fail_expected("two vertex ids", line);
        }
        edges.push_back(edge);
      }
    };
    parse_edges(LineReader(path), path, parse, visit);
  };
}

/// Returns the edges with the weights of a file that has one number per line.
EdgeStream csv_weighted_edges(const EdgeStream& edges, const std::filesystem::path& weights) {
  return [edges, weights](const EdgeVisitor& visit) {
    LineReader reader(weights);
    std::vector<Edge> block;
    std::string_view line;
    edges([&](std::span<const Edge> bare) {
      block.assign(bare.begin(), bare.end());
      for (Edge& edge : block) {
        if (!reader.next(line)) {
          reader.fail("must be followed by more weights, one per edge");
        }
        std::string_view rest = line;
        if (!take_float(rest, edge.weight) || !rest.empty()) {
          reader.fail_expected("one weight", line);
        }
      }
      visit(block);
    });
    if (reader.next(line) && !line.empty()) {
      reader.fail("is one weight too many; there must be one per edge");
    }
  };
}

/// Appends the numbers of one line to `rows`.
void parse_row(const LineReader& reader, std::string_view line, std::vector<float>& rows) {
  for (std::string_view rest = line; !rest.empty();) {
    if (!take_float(rest, rows.emplace_back())) {
      reader.fail_expected("numbers separated by commas", line);
    }
  }
}

std::int64_t count_columns(const std::filesystem::path& path) {
  LineReader reader(path);
  std::string_view line;
  std::vector<float> row;
  if (reader.next(line)) {
    parse_row(reader, line, row);
  }
  return static_cast<std::int64_t>(row.size());
}

RowStream csv_rows(const std::filesystem::path& path, std::int64_t columns) {
  return [path, columns](const RowVisitor& visit) {
    constexpr std::size_t block_values = std::size_t{1} << 18;
    std::vector<float> rows;
    for_each_line(path, [&](const LineReader& reader, std::string_view line) {
      const std::size_t before = rows.size();
      parse_row(reader, line, rows);
      if (const auto found = static_cast<std::int64_t>(rows.size() - before); found != columns) {
        reader.fail("has " + std::to_string(found) + " numbers; must be " + std::to_string(columns) +
                    " as in the first line");
      }
      if (rows.size() >= block_values) {
        visit(rows);
        rows.clear();
      }
    });
    visit(rows);
  };
}

std::vector<std::int32_t> csv_classes(const std::filesystem::path& path) {
  std::vector<std::int32_t> labels;
  for_each_line(path, [&](const LineReader& reader, std::string_view line) {
    float value = 0;
    std::string_view rest = line;
    const bool read = take_float(rest, value) && rest.empty();
    const float label = std::isnan(value) ? -1.0F : value;
    if (!read || label < -1 || label > 1e6F || label != std::floor(label)) {
      reader.fail_expected("one label (a whole number from 0; -1 or nan for unknown)", line);
    }
    labels.push_back(static_cast<std::int32_t>(label));
  });
  return labels;
}

/// Reads one class per line, or several columns of 0 and 1 for a multi-label graph.
void add_csv_labels(GraphSource& source, const std::filesystem::path& path) {
  if (const std::int64_t columns = count_columns(path); columns <= 1) {
    source.labels = csv_classes(path);
  } else {
    LabelSetCollector collector(columns, path.string());
    csv_rows(path, columns)([&](std::span<const float> rows) {
      for (; !rows.empty(); rows = rows.subspan(static_cast<std::size_t>(columns))) {
        collector.add(rows.first(static_cast<std::size_t>(columns)));
      }
    });
    source.labels = collector.take_labels();
    source.label_sets = collector.take_sets();
  }
  if (std::ssize(source.labels) != source.num_vertices) {
    throw base::InputError(path.string(), "has " + std::to_string(source.labels.size()) +
                                              " labels; must be " + std::to_string(source.num_vertices) +
                                              ", one per vertex");
  }
}

/// Returns split/NAME, or the only directory in split/ if no name is given. Returns an empty path if there is
/// no split.
std::filesystem::path split_directory(const std::filesystem::path& root, const std::string& name) {
  const auto splits = root / "split";
  if (!name.empty()) {
    if (!std::filesystem::is_directory(splits / name)) {
      throw base::InputError((splits / name).string(), "does not exist");
    }
    return splits / name;
  }
  std::filesystem::path found;
  if (std::filesystem::is_directory(splits)) {
    for (const auto& entry : std::filesystem::directory_iterator(splits)) {
      if (entry.is_directory() && !found.empty()) {
        throw base::InputError(splits.string(), "has more than one split; choose one with --ogb-split");
      }
      found = entry.is_directory() ? entry.path() : found;
    }
  }
  return found;
}

std::int64_t only_count(const std::vector<std::int64_t>& counts, const std::string& where) {
  if (counts.size() != 1 || counts[0] < 0) {
    throw base::InputError(where,
                           "must hold one number; only single graphs with one vertex type are supported");
  }
  return counts[0];
}

void open_csv(GraphSource& source, const std::filesystem::path& raw, bool weighted) {
  const auto count_file = raw / "num-node-list.csv.gz";
  source.num_vertices = only_count(read_integers(count_file), count_file.string());
  source.edges = csv_edges(raw / "edge.csv.gz");
  source.weighted = weighted;
  if (weighted) {
    source.edges = csv_weighted_edges(source.edges, raw / "edge_weight.csv.gz");
  }
  if (const auto features = raw / "node-feat.csv.gz"; std::filesystem::exists(features)) {
    source.feature_columns = count_columns(features);
    source.features = csv_rows(features, source.feature_columns);
    source.features_where = features.string();
  }
  if (const auto labels = raw / "node-label.csv.gz"; std::filesystem::exists(labels)) {
    add_csv_labels(source, labels);
  }
}

void open_binary(GraphSource& source, const std::filesystem::path& raw, bool weighted) {
  const ZipArchive archive(raw / "data.npz");
  NpyStream counts = archive.array("num_nodes_list");
  source.num_vertices = only_count(read_all<std::int64_t>(counts, counts.elements()), counts.where());
  source.edges = edges_of([archive] { return archive.array("edge_index"); }, Square::two_rows);
  if (weighted) {
    add_weights(source, [archive] { return archive.array("edge_weight"); });
  }
  if (archive.has("node_feat")) {
    add_features(source, [archive] { return archive.array("node_feat"); });
  }
  if (const auto labels = raw / "node-label.npz"; std::filesystem::exists(labels)) {
    add_labels(source, ZipArchive(labels).array("node_label"));
  }
}

}  // namespace

GraphSource open_ogb(const ImportOptions& options) {
  std::filesystem::path root = std::filesystem::path(options.source).lexically_normal();
  if (!root.has_filename()) {
    root = root.parent_path();
  }
  if (root.filename() == "raw") {
    root = root.parent_path();
  }
  const auto raw = root / "raw";
  const bool binary = std::filesystem::exists(raw / "data.npz");
  if (!binary && !std::filesystem::exists(raw / "edge.csv.gz")) {
    throw base::InputError(options.source, "has neither raw/edge.csv.gz nor raw/data.npz");
  }
  GraphSource source;
  source.where = (raw / (binary ? "data.npz" : "edge.csv.gz")).string();
  if (binary) {
    open_binary(source, raw, options.takes_given_weights());
  } else {
    open_csv(source, raw, options.takes_given_weights());
  }
  if (const auto split = split_directory(root, options.ogb_split); !split.empty()) {
    source.split = {read_integers(split / "train.csv.gz"), read_integers(split / "valid.csv.gz"),
                    read_integers(split / "test.csv.gz")};
  }
  return source;
}

}  // namespace gnomon::graph
