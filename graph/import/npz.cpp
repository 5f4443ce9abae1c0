#include "graph/import/npz.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "graph/import/arrays.h"
#include "graph/import/option_rules.h"
#include "graph/import/scipy.h"
#include "graph/import/sparse.h"
#include "graph/import/split_files.h"
#include "graph/import/zip_archive.h"

namespace gnomon::graph {
namespace {

/// The names that an array has in the plain layout: PyG's first.
struct PlainNames {
  std::string edges, features, labels;  ///< empty if the archive has none
};

/// Returns the one of the names that the archive contains; empty if none. Throws InputError if it contains
/// two.
std::string one_of(const ZipArchive& archive, std::initializer_list<const char*> names) {
  std::string found;
  for (const std::string name : names) {
    if (archive.has(name)) {
      if (!found.empty()) {
        throw base::InputError(archive.where(name), "means the same as " + found + "; keep one of them");
      }
      found = name;
    }
  }
  return found;
}

PlainNames plain_names(const ZipArchive& archive) {
  return {one_of(archive, {"edge_index", "edges"}), one_of(archive, {"x", "node_features"}),
          one_of(archive, {"y", "node_labels"})};
}

/// An array of Boolean masks of one or several splits.
struct Masks {
  std::int64_t splits = 1;
  bool in_columns = false;  ///< (vertices × splits) instead of (splits × vertices)
};

Masks masks_in(const NpyStream& stream, std::int64_t num_vertices) {
  Masks masks;
  if (stream.shape().size() == 2) {
    masks.in_columns = stream.columns() != num_vertices && stream.rows() == num_vertices;
    masks.splits = masks.in_columns ? stream.columns() : stream.rows();
  }
  if (stream.elements() != masks.splits * num_vertices) {
    throw base::InputError(
        stream.where(), "must have one value for each of the " + std::to_string(num_vertices) + " vertices");
  }
  return masks;
}

/// Returns the vertices of split `mask` in a Boolean array (vertices), (splits × vertices) or (vertices ×
/// splits).
std::vector<VertexId> masked(const ZipArchive& archive, const std::string& name, std::int64_t mask,
                             std::int64_t num_vertices) {
  NpyStream stream = archive.array(name);
  const Masks masks = masks_in(stream, num_vertices);
  if (mask >= masks.splits) {
    throw base::InputError(stream.where(), "has no mask " + std::to_string(mask) + "; use 0 to " +
                                               std::to_string(masks.splits - 1));
  }
  Elements<std::int64_t> values(std::move(stream), masks.in_columns ? 0 : mask * num_vertices);
  std::vector<VertexId> vertices;
  for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
    bool member = false;
    for (std::int64_t split = 0; split < (masks.in_columns ? masks.splits : 1); ++split) {
      const bool value = values.next() != 0;
      member = !masks.in_columns || split == mask ? value : member;
    }
    if (member) {
      vertices.push_back(vertex);
    }
  }
  return vertices;
}

/// Returns "train_mask" or "train_masks" without "train", whichever the archive has; nothing if it has
/// neither.
std::optional<std::string> mask_suffix(const ZipArchive& archive) {
  for (const std::string suffix : {"_masks", "_mask"}) {
    if (archive.has("train" + suffix)) {
      return suffix;
    }
  }
  return std::nullopt;
}

/// A set of a split as an array of vertices; empty if the archive has none.
std::vector<VertexId> listed(const ZipArchive& archive, std::initializer_list<const char*> names) {
  const auto name = one_of(archive, names);
  if (name.empty()) {
    return {};
  }
  NpyStream stream = archive.array(name);
  const auto count = stream.elements();
  return read_all<VertexId>(std::move(stream), count);
}

void refuse_split_files(const ImportOptions& options, const std::string& array) {
  for (const char* const field : {"train_ids", "valid_ids", "test_ids"}) {
    refuse_if_given(options, field, options.source + " has a split (" + array + ")");
  }
}

/// Reads the masks or lists of vertices, or the files that the options name.
Split split_of(const ZipArchive& archive, const ImportOptions& options, std::int64_t num_vertices) {
  const auto suffix = mask_suffix(archive);
  if (!suffix) {
    refuse_if_given(options, "mask", options.source + " has no masks");
    if (archive.has("train_idx")) {
      refuse_split_files(options, "train_idx");
      return {listed(archive, {"train_idx"}), listed(archive, {"val_idx", "valid_idx"}),
              listed(archive, {"test_idx"})};
    }
    return read_split_files(options, VertexIds::unchanged(num_vertices));
  }
  refuse_split_files(options, "train" + *suffix);
  if (masks_in(archive.array("train" + *suffix), num_vertices).splits == 1 && options.mask == 0) {
    refuse_if_given(options, "mask", options.source + " has one split only");
  }
  return {masked(archive, "train" + *suffix, options.mask, num_vertices),
          masked(archive, "val" + *suffix, options.mask, num_vertices),
          masked(archive, "test" + *suffix, options.mask, num_vertices)};
}

GraphSource open_sparse_layout(const ZipArchive& archive) {
  GraphSource source;
  const SparseRows adjacency = read_sparse_rows(archive, "adj_");
  source.num_vertices = adjacency.rows();
  if (adjacency.columns != adjacency.rows()) {
    throw base::InputError(archive.where("adj_shape"), "must be square");
  }
  source.edges = sparse_edges(archive, "adj_", adjacency, Major::rows);
  if (archive.has("attr_indptr")) {
    const SparseRows attributes = read_sparse_rows(archive, "attr_");
    if (attributes.rows() != source.num_vertices || attributes.columns == 0) {
      throw base::InputError(
          archive.where("attr_shape"),
          "must have one row for each of the " + std::to_string(source.num_vertices) + " vertices");
    }
    source.feature_columns = attributes.columns;
    source.features = sparse_features(archive, "attr_", attributes);
    source.features_where = archive.where("attr_data");
  } else if (archive.has("attr_matrix")) {
    add_features(source, [archive] { return archive.array("attr_matrix"); });
  }
  if (archive.has("labels")) {
    add_labels(source, archive.array("labels"));
  }
  return source;
}

/// Returns the number of vertices given by the plain layout's features, labels, num_nodes or masks, or by
/// separate files; otherwise the largest id plus one.
std::int64_t count_vertices(const ZipArchive& archive, const PlainNames& names, const ImportOptions& options,
                            const EdgeStream& edges) {
  for (const auto& name : {names.features, names.labels}) {
    if (!name.empty()) {
      return archive.array(name).rows();
    }
  }
  if (archive.has("num_nodes")) {
    constexpr std::int64_t max_vertices = std::int64_t{1} << 40;
    const auto count = read_all<std::int64_t>(archive.array("num_nodes"), 1)[0];
    if (count < 0 || count > max_vertices) {
      throw base::InputError(archive.where("num_nodes"),
                             "is " + std::to_string(count) + "; use 0 to " + std::to_string(max_vertices));
    }
    return count;
  }
  for (const auto& file : {options.features, options.labels}) {
    if (!file.empty()) {
      return open_npy_stream(file).rows();
    }
  }
  if (archive.has("train_mask")) {
    return archive.array("train_mask").rows();
  }
  VertexId largest = -1;
  std::int64_t count = 0;
  edges([&](std::span<const Edge> block) {
    count += std::ssize(block);
    for (const Edge& edge : block) {
      largest = std::max({largest, edge.source, edge.destination});
    }
  });
  if (largest >= 1'000'000 && (largest - 63) / 64 >= count) {
    throw base::InputError(archive.where(names.edges),
                           "has vertex id " + std::to_string(largest) + " but only " + std::to_string(count) +
                               " edges; number the vertices from 0, or add the array num_nodes");
  }
  return largest + 1;
}

GraphSource open_plain_layout(const ZipArchive& archive, const PlainNames& names,
                              const ImportOptions& options) {
  GraphSource source;
  source.edges = edges_of([archive, name = names.edges] { return archive.array(name); },
                          names.edges == "edges" ? Square::pairs : Square::two_rows);
  source.num_vertices = count_vertices(archive, names, options, source.edges);
  if (!names.features.empty()) {
    add_features(source, [archive, name = names.features] { return archive.array(name); });
  }
  if (!names.labels.empty()) {
    add_labels(source, archive.array(names.labels));
  }
  return source;
}

[[noreturn]] void refuse_layout(const ZipArchive& archive, const std::string& path) {
  std::string found;
  for (const auto& entry : archive.entries()) {
    if (found.size() < 60) {
      found +=
          (found.empty() ? "" : ", ") + (entry.ends_with(".npy") ? entry.substr(0, entry.size() - 4) : entry);
    }
  }
  throw base::InputError(
      path, "has neither edge_index (or edges), adj_indptr nor SciPy's format and shape; it holds " +
                (found.empty() ? "nothing" : found));
}

/// The array of the edges' weights.
std::string weights_array(const ZipArchive& archive) {
  if (archive.has("adj_indptr")) {
    return "adj_data";
  }
  if (is_scipy_matrix(archive)) {
    return "data";
  }
  const auto name = one_of(archive, {"edge_weight", "edge_weights", "edge_attr"});
  return name.empty() ? "edge_weights" : name;
}

/// Whether an array of any layout has this name.
bool is_known(const std::string& array) {
  constexpr std::array known{"edge_index",  "edges",     "x",          "node_features", "y",
                             "node_labels", "num_nodes", "train_mask", "val_mask",      "test_mask",
                             "train_masks", "val_masks", "test_masks", "train_idx",     "val_idx",
                             "valid_idx",   "test_idx",  "labels",     "format",        "shape",
                             "data",        "indices",   "indptr",     "row",           "col",
                             "attr_matrix", "attr_text", "node_names", "attr_names",    "class_names"};
  return array.starts_with("adj_") || array.starts_with("attr_") ||
         std::find(known.begin(), known.end(), array) != known.end();
}

/// Says which arrays are not read; empty if all are.
std::string ignored_note(const ZipArchive& archive, const ImportOptions& options) {
  const bool may_have_weights = !archive.has("adj_indptr") && !is_scipy_matrix(archive);
  const auto weights = may_have_weights ? weights_array(archive) : "";
  std::string names;
  for (const auto& entry : archive.entries()) {
    const auto name = entry.ends_with(".npy") ? entry.substr(0, entry.size() - 4) : entry;
    if (!is_known(name) && (name != weights || options.edge_weights.empty())) {
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  if (names.empty()) {
    return "";
  }
  const bool has_weights = options.edge_weights.empty() && !weights.empty() && archive.has(weights);
  return "not imported: " + names + (has_weights ? " (--edge-weights given imports " + weights + ")" : "");
}

}  // namespace

GraphSource open_npz(const ImportOptions& options, std::vector<std::string>& notes) {
  const ZipArchive archive(options.source);
  const PlainNames names = plain_names(archive);
  GraphSource source;
  if (archive.has("adj_indptr")) {
    source = open_sparse_layout(archive);
  } else if (!names.edges.empty()) {
    source = open_plain_layout(archive, names, options);
  } else if (is_scipy_matrix(archive)) {
    source = open_scipy_matrix(archive);
  } else {
    refuse_layout(archive, options.source);
  }
  source.where = options.source;
  if (options.takes_given_weights()) {
    add_weights(source, [archive, name = weights_array(archive)] { return archive.array(name); });
  }
  add_given_arrays(source, options);
  source.split = split_of(archive, options, source.num_vertices);
  if (const auto note = ignored_note(archive, options); !note.empty()) {
    notes.push_back(note);
  }
  return source;
}

}  // namespace gnomon::graph
