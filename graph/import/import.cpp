#include "graph/import/import.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "graph/generate/generate.h"
#include "graph/import/arrays.h"
#include "graph/import/edge_list.h"
#include "graph/import/foreign_files.h"
#include "graph/import/graphsaint.h"
#include "graph/import/line_reader.h"
#include "graph/import/matrix_market.h"
#include "graph/import/npz.h"
#include "graph/import/ogb.h"
#include "graph/import/option_rules.h"

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

/// An opened source with notes for the user; see EdgeList.
EdgeList open_format(const ImportOptions& options, const base::Progress& progress) {
  EdgeList opened;
  switch (options.format) {
    case Format::npz:
      opened.source = open_npz(options, opened.notes);
      return opened;
    case Format::ogb:
      opened.source = open_ogb(options);
      return opened;
    case Format::matrix_market:
      opened.source = open_matrix_market(options);
      return opened;
    case Format::graphsaint:
      opened.source = open_graphsaint(options);
      return opened;
    default:
      return open_edge_list(options, progress);
  }
}

/// Opens the source and adds the weights of a separate file if the options name one.
EdgeList open_source(const ImportOptions& options, const base::Progress& progress) {
  EdgeList opened = open_format(options, progress);
  if (opened.source.num_vertices == 0) {
    throw base::InputError(opened.source.where, "has no vertices");
  }
  if (options.edge_weights.empty() || options.takes_given_weights()) {
    return opened;
  }
  if (options.format == Format::matrix_market) {
    throw base::InputError("edge_weights",
                           "cannot be a file for Matrix Market, whose values are the weights; "
                           "use \"given\"");
  }
  add_weights(opened.source, [path = options.edge_weights] { return open_npy_stream(path); });
  return opened;
}

/// Says how many ids have no edges; empty if all have one or it is not known.
std::string sparse_ids_note(const ImportOptions& options, const EdgeList& opened) {
  if (opened.has_edge == nullptr || options.content.largest_component) {
    return "";
  }
  const auto& has_edge = *opened.has_edge;
  const auto without = std::count(has_edge.begin(), has_edge.end(), false);
  if (without == 0) {
    return "";
  }
  return std::to_string(without) + " of " + std::to_string(has_edge.size()) +
         " vertices have no edges, as not all ids from 0 to " + std::to_string(has_edge.size() - 1) +
         " occur; --relabel keeps only those that do";
}

/// Says that a split was drawn although none was asked for; empty otherwise.
std::string split_note(const SplitOptions& split, const GraphSource& source) {
  if (split.method != SplitMethod::automatic || !source.split.empty() || source.labels.empty()) {
    return "";
  }
  const auto percent = [](double share) { return std::to_string(std::lround(100 * share)) + " %"; };
  return "no split in the data; drew one at random: " + percent(split.train_share) + " for training, " +
         percent(split.valid_share) + " for validation, seed " + std::to_string(split.seed);
}

/// Says that edges seem to be stored in one direction only; empty if one of a sample has its reverse.
std::string direction_note(const ImportOptions& options, const std::filesystem::path& store) {
  constexpr std::int64_t max_sample = 10'000;
  const auto& edges = options.content.edges;
  const Graph graph = open_store(store);
  if (edges.undirected || graph.num_edges() == 0 || graph.features.columns == 0) {
    return "";
  }
  const std::int64_t step = std::max<std::int64_t>(1, graph.num_vertices() / max_sample);
  for (VertexId vertex = 0; vertex < graph.num_vertices(); vertex += step) {
    const auto sources = graph.neighbours(vertex);
    for (std::size_t i = 0; i < std::min<std::size_t>(sources.size(), 8); ++i) {
      const auto back = graph.neighbours(sources[i]);
      if (sources[i] != vertex && std::binary_search(back.begin(), back.end(), vertex)) {
        return "";
      }
    }
  }
  return "edges come without their reverses; --undirected adds these";
}

}  // namespace

Format detect_format(const std::filesystem::path& source) {
  if (std::filesystem::is_directory(source)) {
    if (std::filesystem::exists(source / "meta.json")) {
      throw base::InputError(source.string(), "is already a graph store; no import is needed");
    }
    return is_graphsaint(source) ? Format::graphsaint : Format::ogb;
  }
  std::ifstream file(source, std::ios::binary);
  std::array<char, 4> start{};
  if (!file) {
    throw base::InputError(source.string(), "cannot be read");
  }
  refuse_foreign_file(source);
  file.read(start.data(), start.size());
  const std::string_view magic(start.data(), start.size());
  if (magic == "PK\3\4" || magic == "PK\5\6") {  // the second: an empty archive
    return Format::npz;
  }
  std::string_view line;
  const bool marked = LineReader(source).next(line) && line.starts_with("%%MatrixMarket");
  return marked ? Format::matrix_market : Format::edge_list;
}

std::vector<std::string> import_graph(const ImportOptions& options, const std::filesystem::path& directory,
                                      const base::Progress& progress) {
  ImportOptions resolved = options;
  if (resolved.format == Format::automatic) {
    resolved.format = detect_format(options.source);
  }
  if (resolved.name.empty()) {
    resolved.name = name_of_file(options.source);
  }
  check_options(resolved);
  refuse_foreign_file(resolved.source);
  EdgeList opened = open_source(resolved, progress);
  opened.source.name = resolved.name;
  check_effects(resolved, opened.source);
  fill_at_random(opened.source, resolved.random_features, resolved.random_classes,
                 resolved.content.split.seed);
  if (const auto note = split_note(resolved.content.split, opened.source); !note.empty()) {
    opened.notes.push_back(note);
  }
  write_in_order(
      resolved.order, directory,
      [&](const std::filesystem::path& store) {
        write_source(std::move(opened.source), resolved.content,
                     {"import", resolved.source, option_texts(resolved)}, store, progress);
      },
      progress, resolved.content.resources);
  if (const auto note = sparse_ids_note(resolved, opened); !note.empty()) {
    opened.notes.push_back(note);
  }
  if (const auto note = direction_note(resolved, directory); !note.empty()) {
    opened.notes.push_back(note);
  }
  return opened.notes;
}

}  // namespace gnomon::graph
