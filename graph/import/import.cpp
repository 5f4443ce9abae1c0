#include "graph/import/import.h"

#include <array>
#include <fstream>

#include "base/error.h"
#include "graph/generate/generate.h"
#include "graph/import/importers.h"
#include "graph/import/line_reader.h"

namespace gnomon::graph {
namespace {

/// "cora" of "data/cora.npz", "ego-twitter" of "ego-twitter.txt.gz".
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

/// The source with the weights of a file, if the options name one.
GraphSource open_source(const ImportOptions& options, const base::Progress& progress) {
  GraphSource source = open_format(options, progress);
  if (options.edge_weights.empty() || options.takes_given_weights()) {
    return source;
  }
  if (options.format == Format::matrix_market) {
    throw base::InputError("edge_weights", "of a Matrix Market file are its values; use \"given\"");
  }
  add_weights(source, [path = options.edge_weights] { return open_npy_stream(path); });
  return source;
}

}  // namespace

Format detect_format(const std::filesystem::path& source) {
  if (std::filesystem::is_directory(source)) {
    if (std::filesystem::exists(source / "meta.json")) {
      throw base::InputError(source.string(), "is a graph store already; it needs no import");
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
  ImportOptions settled = options;
  if (settled.format == Format::automatic) {
    settled.format = detect_format(options.source);
  }
  if (settled.name.empty()) {
    settled.name = name_of_file(options.source);
  }
  GraphSource source = open_source(settled, progress);
  source.name = settled.name;
  fill_at_random(source, settled.random_features, settled.random_classes, settled.content.split.seed);
  write_in_order(
      settled.order, directory,
      [&](const std::filesystem::path& store) {
        write_source(std::move(source), settled.content, {"import", settled.source, option_texts(settled)},
                     store, progress);
      },
      progress);
}

}  // namespace gnomon::graph
