#include "graph/import/import.h"

#include <array>
#include <fstream>

#include "base/error.h"
#include "graph/generate/generate.h"
#include "graph/import/importers.h"
#include "graph/import/line_reader.h"

namespace gnomon::graph {
namespace {

/// Returns "cora" for "data/cora.npz" and "ego-twitter" for "ego-twitter.txt.gz".
std::string name_of_file(std::filesystem::path path) {
  path = path.lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();
  }
  if (path.extension() == ".gz") {
    path = path.stem();
  }
  return path.stem().string();
}

GraphSource open_format(const ImportOptions& options, const base::Progress& progress) {
  switch (options.format) {
    case Format::npz:
      return open_npz(options);
    case Format::ogb:
      return open_ogb(options);
    case Format::matrix_market:
      return open_matrix_market(options);
    default:
      return open_edge_list(options, progress);
  }
}

/// Opens the source and adds the weights of a separate file if the options name one.
GraphSource open_source(const ImportOptions& options, const base::Progress& progress) {
  GraphSource source = open_format(options, progress);
  if (options.edge_weights.empty() || options.takes_given_weights()) {
    return source;
  }
  if (options.format == Format::matrix_market) {
    throw base::InputError("edge_weights",
                           "cannot be a file for Matrix Market, whose values are the weights; "
                           "use \"given\"");
  }
  add_weights(source, [path = options.edge_weights] { return open_npy_stream(path); });
  return source;
}

}  // namespace

Format detect_format(const std::filesystem::path& source) {
  if (std::filesystem::is_directory(source)) {
    if (std::filesystem::exists(source / "meta.json")) {
      throw base::InputError(source.string(), "is already a graph store; no import is needed");
    }
    return Format::ogb;
  }
  std::ifstream file(source, std::ios::binary);
  std::array<char, 4> start{};
  if (!file) {
    throw base::InputError(source.string(), "cannot be read");
  }
  file.read(start.data(), start.size());
  if (std::string_view(start.data(), 2) == "PK") {
    return Format::npz;
  }
  std::string_view line;
  const bool marked = LineReader(source).next(line) && line.starts_with("%%MatrixMarket");
  return marked ? Format::matrix_market : Format::edge_list;
}

void import_graph(const ImportOptions& options, const std::filesystem::path& directory,
                  const base::Progress& progress) {
  ImportOptions resolved = options;
  if (resolved.format == Format::automatic) {
    resolved.format = detect_format(options.source);
  }
  if (resolved.name.empty()) {
    resolved.name = name_of_file(options.source);
  }
  GraphSource source = open_source(resolved, progress);
  source.name = resolved.name;
  fill_at_random(source, resolved.random_features, resolved.random_classes, resolved.content.split.seed);
  write_in_order(
      resolved.order, directory,
      [&](const std::filesystem::path& store) {
        write_source(std::move(source), resolved.content, {"import", resolved.source, option_texts(resolved)},
                     store, progress);
      },
      progress);
}

}  // namespace gnomon::graph
