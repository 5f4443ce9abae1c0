#include "graph/import/arrays.h"

#include <algorithm>

#include "base/error.h"
#include "graph/import/edge_blocks.h"

namespace gnomon::graph {
namespace {

/// Returns the rows of an array (n × columns) as a stream of blocks.
RowStream rows_of(const OpenArray& open) {
  return [open](const RowVisitor& visit) {
    NpyStream stream = open();
    const std::int64_t columns = stream.columns();
    const std::int64_t block_rows = std::max<std::int64_t>(1, (1 << 18) / columns);
    std::vector<float> block;
    for (std::int64_t begin = 0; begin < stream.rows(); begin += block_rows) {
      block.resize(static_cast<std::size_t>(std::min(block_rows, stream.rows() - begin) * columns));
      stream.read(std::span<float>(block));
      visit(block);
    }
  };
}

std::vector<std::int32_t> classes_of(NpyStream stream, std::int64_t num_vertices) {
  const std::string where = stream.where();
  const auto values = read_all<double>(std::move(stream), num_vertices);
  std::vector<std::int32_t> labels;
  labels.reserve(values.size());
  for (const double value : values) {
    labels.push_back(class_of(value, std::ssize(labels), where));
  }
  return labels;
}

void add_label_sets(GraphSource& source, NpyStream stream) {
  LabelSetCollector collector(stream.columns(), stream.where());
  std::vector<float> row(static_cast<std::size_t>(stream.columns()));
  for (VertexId vertex = 0; vertex < source.num_vertices; ++vertex) {
    stream.read(std::span<float>(row));
    collector.add(row);
  }
  source.labels = collector.take_labels();
  source.label_sets = collector.take_sets();
}

}  // namespace

EdgeStream edges_of(const OpenArray& open, Square square) {
  return [open, square](const EdgeVisitor& visit) {
    NpyStream stream = open();
    const bool in_pairs = stream.columns() == 2 && (stream.rows() != 2 || square == Square::pairs);
    const std::int64_t count = in_pairs ? stream.rows() : stream.columns();
    if (stream.shape().size() != 2 || (!in_pairs && stream.rows() != 2)) {
      throw base::InputError(stream.where(), "must have the shape (edges, 2) or (2, edges)");
    }
    EdgeBlocks blocks(visit);
    if (in_pairs) {
      Elements<std::int64_t> ids(std::move(stream));
      for (std::int64_t i = 0; i < count; ++i) {
        const VertexId source = ids.next();
        blocks.push({source, ids.next()});
      }
    } else {
      Elements<std::int64_t> sources(std::move(stream));
      Elements<std::int64_t> destinations(open(), count);
      for (std::int64_t i = 0; i < count; ++i) {
        blocks.push({sources.next(), destinations.next()});
      }
    }
    blocks.flush();
  };
}

void add_features(GraphSource& source, const OpenArray& open) {
  const NpyStream features = open();
  if (features.shape().size() != 2 || features.rows() != source.num_vertices || features.columns() == 0) {
    throw base::InputError(features.where(), "must have the shape (" + std::to_string(source.num_vertices) +
                                                 ", columns), one row per vertex");
  }
  source.feature_columns = features.columns();
  source.features = rows_of(open);
  source.features_where = features.where();
}

void add_weights(GraphSource& source, const OpenArray& open) {
  source.weighted = true;
  source.edges = [edges = source.edges, open](const EdgeVisitor& visit) {
    NpyStream stream = open();
    const std::string where = stream.where();
    const std::int64_t count = stream.elements();
    Elements<float> weights(std::move(stream));
    std::vector<Edge> block;
    std::int64_t used = 0;
    edges([&](std::span<const Edge> bare) {
      block.assign(bare.begin(), bare.end());
      used += static_cast<std::int64_t>(block.size());
      if (used > count) {
        throw base::InputError(where,
                               "has " + std::to_string(count) + " weights, fewer than there are edges");
      }
      for (Edge& edge : block) {
        edge.weight = weights.next();
      }
      visit(block);
    });
    if (used != count) {
      throw base::InputError(where, "has " + std::to_string(count) + " weights; must be " +
                                        std::to_string(used) + ", one per edge");
    }
  };
}

void add_labels(GraphSource& source, NpyStream stream) {
  if (stream.shape().size() > 2 || stream.columns() < 1 || stream.rows() != source.num_vertices) {
    const auto vertices = std::to_string(source.num_vertices);
    throw base::InputError(stream.where(), "has the shape " + stream.shape_text() + "; must be (" + vertices +
                                               ",), or (" + vertices +
                                               ", classes) if vertices may have several classes");
  }
  if (stream.columns() == 1) {
    source.labels = classes_of(std::move(stream), source.num_vertices);
  } else {
    add_label_sets(source, std::move(stream));
  }
}

void add_given_arrays(GraphSource& source, const ImportOptions& options) {
  if (!options.features.empty()) {
    if (source.feature_columns > 0) {
      throw base::InputError("--features",
                             source.features_where + " has features already; leave --features out");
    }
    add_features(source, [path = options.features] { return open_npy_stream(path); });
  }
  if (!options.labels.empty()) {
    if (!source.labels.empty()) {
      throw base::InputError("--labels", source.where + " has labels already; leave --labels out");
    }
    add_labels(source, open_npy_stream(options.labels));
  }
}

}  // namespace gnomon::graph
