#include "graph/import/source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/error.h"
#include "graph/feature_bits.h"
#include "graph/store/feature_writer.h"
#include "graph/store/names.h"

namespace gnomon::graph {
namespace {

std::int32_t count_classes(const GraphSource& source) {
  if (!source.label_sets.rows.empty()) {
    return source.label_sets.classes;
  }
  const auto& labels = source.labels;
  return labels.empty() ? 0 : 1 + std::max(-1, *std::max_element(labels.begin(), labels.end()));
}

double norm_of(std::span<const float> row, RowNorm norm) {
  double sum = 0;
  for (const double value : row) {
    sum += norm == RowNorm::l1 ? std::fabs(value) : value * value;
  }
  return norm == RowNorm::l1 ? sum : std::sqrt(sum);
}

void normalise_rows(std::span<float> rows, std::size_t columns, RowNorm norm) {
  for (std::size_t begin = 0; begin < rows.size(); begin += columns) {
    const auto row = rows.subspan(begin, columns);
    const double length = norm_of(row, norm);
    if (length > 0) {
      for (float& value : row) {
        value = static_cast<float>(value / length);
      }
    }
  }
}

/// Returns the source's rows, normalised if required. Throws InputError for rows that are missing or not
/// finite.
RowStream prepared_rows(const GraphSource& source, const SourceOptions& options, base::Progress progress) {
  return
      [&source, norm = options.normalise_features, progress = std::move(progress)](const RowVisitor& visit) {
        const auto columns = static_cast<std::size_t>(source.feature_columns);
        std::vector<float> block;
        std::int64_t row = 0;
        source.features([&](std::span<const float> rows) {
          const auto bad =
              std::find_if(rows.begin(), rows.end(), [](float value) { return !std::isfinite(value); });
          if (bad != rows.end()) {
            throw base::InputError(source.features_where,
                                   "NaN or infinite in row " +
                                       std::to_string(row + (bad - rows.begin()) / source.feature_columns) +
                                       "; features must be finite");
          }
          if (norm != RowNorm::none) {
            block.assign(rows.begin(), rows.end());
            normalise_rows(block, columns, norm);
            rows = block;
          }
          visit(rows);
          row += static_cast<std::int64_t>(rows.size() / columns);
          base::report(progress, "writing features", row, source.num_vertices);
        });
        if (row != source.num_vertices) {
          throw base::InputError(source.features_where, "has " + std::to_string(row) + " rows; must be " +
                                                            std::to_string(source.num_vertices) +
                                                            ", one per vertex");
        }
      };
}

/// Returns the form to write. Throws InputError if the sparse one cannot hold the columns.
FeatureForm form_of(const GraphSource& source, const SourceOptions& options) {
  constexpr std::int64_t max_columns = std::numeric_limits<std::int32_t>::max();
  if (source.feature_columns <= max_columns) {
    return options.feature_form;
  }
  if (options.feature_form == FeatureForm::sparse) {
    throw base::InputError(source.features_where, "has " + std::to_string(source.feature_columns) +
                                                      " columns; the sparse form holds at most " +
                                                      std::to_string(max_columns));
  }
  return FeatureForm::dense;
}

/// Returns what meta.json says of the sparse form, if that is the one written.
std::optional<SparseMeta> write_features(const StoreWriter& store, const GraphSource& source,
                                         const SourceOptions& options, const base::Progress& progress) {
  FeatureWriter writer(store.path_of(""), source.feature_columns, options.feature_type,
                       form_of(source, options));
  prepared_rows(source, options, progress)([&](std::span<const float> block) {
    if (options.feature_type == FeatureType::fp32) {
      writer.add(std::as_bytes(block));
      return;
    }
    writer.add(in_type(options.feature_type, FeatureType::fp32, std::as_bytes(block), source.features_where));
  });
  return writer.finish();
}

/// Sorts the sets of the split in the input data. Throws InputError unless they are disjoint and in range.
void normalise_split(GraphSource& source) {
  std::vector<bool> taken(static_cast<std::size_t>(source.num_vertices), false);
  for (auto& [set, name] : {std::pair{&source.split.train, "train"},
                            {&source.split.valid, "valid"},
                            {&source.split.test, "test"}}) {
    std::sort(set->begin(), set->end());
    for (const VertexId vertex : *set) {
      const bool in_range = vertex >= 0 && vertex < source.num_vertices;
      if (!in_range || taken[static_cast<std::size_t>(vertex)]) {
        throw base::InputError(
            source.where + ": " + name + " split",
            "vertex " + std::to_string(vertex) +
                (in_range ? " is repeated; each vertex may be in one split only, once"
                          : " is out of range; use 0 to " + std::to_string(source.num_vertices - 1)));
      }
      taken[static_cast<std::size_t>(vertex)] = true;
    }
  }
}

/// Restricts the source to its largest component and draws a split, as the options require.
GraphSource prepared(GraphSource source, const SourceOptions& options, std::int32_t num_classes) {
  normalise_split(source);
  if (options.largest_component) {
    auto kept = largest_component(source.num_vertices, source.edges, source.where);
    source = restrict_to(std::move(source), std::move(kept));
  }
  const SplitMethod method = options.split.method;
  const bool draw = method == SplitMethod::per_class || method == SplitMethod::ratio ||
                    (method == SplitMethod::automatic && source.split.empty());
  if (method == SplitMethod::given && source.split.empty()) {
    throw base::InputError(source.where, "has no split; use a per_class or ratio split");
  }
  if (draw && method == SplitMethod::per_class && !source.label_sets.rows.empty()) {
    throw base::InputError(source.where + ": labels",
                           "have several classes per vertex; a per_class split needs one; use a ratio split");
  }
  if (draw) {
    source.split = draw_split(source.labels, num_classes, options.split, source.where + ": labels");
  }
  return source;
}

}  // namespace

std::vector<VertexId> largest_component(std::int64_t num_vertices, const EdgeStream& edges,
                                        const std::string& where) {
  std::vector<VertexId> parent(static_cast<std::size_t>(num_vertices));
  for (std::size_t vertex = 0; vertex < parent.size(); ++vertex) {
    parent[vertex] = static_cast<VertexId>(vertex);
  }
  const auto root_of = [&](VertexId vertex) {
    while (parent[static_cast<std::size_t>(vertex)] != vertex) {
      VertexId& up = parent[static_cast<std::size_t>(vertex)];
      up = parent[static_cast<std::size_t>(up)];
      vertex = up;
    }
    return vertex;
  };
  edges([&](std::span<const Edge> block) {
    for (const Edge& edge : block) {
      if (std::min(edge.source, edge.destination) < 0 ||
          std::max(edge.source, edge.destination) >= num_vertices) {
        throw base::InputError(where, "edge " + std::to_string(edge.source) + " " +
                                          std::to_string(edge.destination) + " is out of range; use 0 to " +
                                          std::to_string(num_vertices - 1));
      }
      const VertexId one = root_of(edge.source);
      const VertexId other = root_of(edge.destination);
      parent[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
    }
  });
  std::vector<std::int64_t> sizes(parent.size(), 0);
  for (std::size_t vertex = 0; vertex < parent.size(); ++vertex) {
    ++sizes[static_cast<std::size_t>(root_of(static_cast<VertexId>(vertex)))];
  }
  const VertexId largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  std::vector<VertexId> kept;
  for (std::size_t vertex = 0; vertex < parent.size(); ++vertex) {
    if (root_of(static_cast<VertexId>(vertex)) == largest) {
      kept.push_back(static_cast<VertexId>(vertex));
    }
  }
  return kept;
}

GraphSource restrict_to(GraphSource source, std::vector<VertexId> kept) {
  const auto old_count = static_cast<std::size_t>(source.num_vertices);
  auto new_ids = std::make_shared<std::vector<VertexId>>(old_count, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    (*new_ids)[static_cast<std::size_t>(kept[i])] = static_cast<VertexId>(i);
  }
  const auto new_id = [new_ids](VertexId old) { return (*new_ids)[static_cast<std::size_t>(old)]; };
  GraphSource result = source;
  result.num_vertices = static_cast<std::int64_t>(kept.size());
  result.edges = [edges = source.edges, new_id](const EdgeVisitor& visit) {
    std::vector<Edge> block;
    edges([&](std::span<const Edge> old) {
      block.clear();
      for (const Edge& edge : old) {
        if (const Edge renamed{new_id(edge.source), new_id(edge.destination), edge.weight};
            renamed.source >= 0 && renamed.destination >= 0) {
          block.push_back(renamed);
        }
      }
      visit(block);
    });
  };
  result.features = [features = source.features, new_id,
                     columns = source.feature_columns](const RowVisitor& visit) {
    std::vector<float> block;
    VertexId row = 0;
    features([&](std::span<const float> rows) {
      block.clear();
      for (; !rows.empty(); rows = rows.subspan(static_cast<std::size_t>(columns)), ++row) {
        if (new_id(row) >= 0) {
          block.insert(block.end(), rows.begin(), rows.begin() + columns);
        }
      }
      visit(block);
    });
  };
  for (auto [from, to] : {std::pair{&source.split.train, &result.split.train},
                          std::pair{&source.split.valid, &result.split.valid},
                          std::pair{&source.split.test, &result.split.test}}) {
    to->clear();
    for (const VertexId vertex : *from) {
      if (new_id(vertex) >= 0) {
        to->push_back(new_id(vertex));
      }
    }
  }
  result.labels.clear();
  result.original_ids.clear();
  for (const VertexId old : kept) {
    if (!source.labels.empty()) {
      result.labels.push_back(source.labels[static_cast<std::size_t>(old)]);
    }
    result.original_ids.push_back(
        source.original_ids.empty() ? old : source.original_ids[static_cast<std::size_t>(old)]);
  }
  return result;
}

void write_source(GraphSource source, const SourceOptions& options, Provenance provenance,
                  const std::filesystem::path& directory, const base::Progress& progress) {
  StoreWriter writer(directory);
  const std::int32_t num_classes = count_classes(source);
  source = prepared(std::move(source), options, num_classes);
  StoreMeta meta{source.name,          source.num_vertices,  0, num_classes, source.feature_columns,
                 options.feature_type, std::move(provenance)};
  meta.num_edges = writer.write_edges(
      {source.num_vertices, options.edges, source.weighted, source.where, options.resources}, source.edges,
      progress);
  meta.edge_weights = source.weighted;
  if (source.feature_columns > 0) {
    meta.sparse_features = write_features(writer, source, options, progress);
  }
  if (num_classes > 0) {
    writer.write_array<std::int32_t>("labels.npy", DType::int32, source.labels);
  }
  if (const auto& sets = source.label_sets; !sets.rows.empty()) {
    writer.write_label_sets(sets.rows, sets.classes);
    meta.label_sets = std::ssize(sets.rows) / sets.classes;
  }
  writer.write_array<VertexId>("train.npy", DType::int64, source.split.train);
  writer.write_array<VertexId>("valid.npy", DType::int64, source.split.valid);
  writer.write_array<VertexId>("test.npy", DType::int64, source.split.test);
  if (!source.original_ids.empty()) {
    writer.write_array<VertexId>("original_ids.npy", DType::int64, source.original_ids);
  }
  if (source.names != nullptr) {
    write_names(writer.path_of(""), *source.names);
  }
  writer.commit(meta);
}

Graph load_source(GraphSource source, const SourceOptions& options) {
  const std::int32_t num_classes = count_classes(source);
  source = prepared(std::move(source), options, num_classes);
  GraphParts parts;
  parts.name = source.name;
  parts.num_vertices = source.num_vertices;
  source.edges([&](std::span<const Edge> block) {
    parts.edges.insert(parts.edges.end(), block.begin(), block.end());
  });
  parts.edge_options = options.edges;
  parts.weighted = source.weighted;
  parts.feature_columns = source.feature_columns;
  parts.feature_type = options.feature_type;
  if (source.feature_columns > 0) {
    prepared_rows(source, options, {})([&](std::span<const float> rows) {
      parts.features.insert(parts.features.end(), rows.begin(), rows.end());
    });
  }
  parts.labels = std::move(source.labels);
  parts.label_sets = std::move(source.label_sets.rows);
  parts.num_classes = parts.label_sets.empty() ? 0 : source.label_sets.classes;
  parts.train = std::move(source.split.train);
  parts.valid = std::move(source.split.valid);
  parts.test = std::move(source.split.test);
  return with_features_in(make_graph(std::move(parts)), form_of(source, options));
}

}  // namespace gnomon::graph
