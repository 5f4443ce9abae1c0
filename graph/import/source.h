#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/feature_form.h"
#include "graph/import/label_sets.h"
#include "graph/splits.h"
#include "graph/store/csc_builder.h"
#include "graph/store/store.h"

namespace gnomon::graph {

/// Passes all feature rows to the visitor, in blocks of whole rows in the order of the vertices.
using RowVisitor = std::function<void(std::span<const float>)>;
using RowStream = std::function<void(const RowVisitor&)>;

/// A graph as an importer or generator provides it: edges and features are streams, never held in memory.
struct GraphSource {
  std::string name;
  std::string where;  ///< the file that errors name
  std::int64_t num_vertices = 0;
  EdgeStream edges;
  bool weighted = false;             ///< whether the edges have weights
  std::int64_t feature_columns = 0;  ///< 0 for a graph without features
  RowStream features;
  std::string features_where;          ///< the file or array that errors about features name
  std::vector<std::int32_t> labels;    ///< num_vertices, or empty; as in Graph
  LabelSets label_sets;                ///< of a multi-label graph
  Split split;                         ///< the split in the input data; may be empty
  std::vector<VertexId> original_ids;  ///< num_vertices if the vertices were renumbered; otherwise empty
  /// By original id, if the input data name the vertices; otherwise null.
  std::shared_ptr<const std::deque<std::string>> names;
};

/// The norm by which feature rows are divided: l1 is the sum of absolute values, l2 the Euclidean norm.
enum class RowNorm : std::uint8_t { none, l1, l2 };

/// How a source is converted to a store or a graph.
struct SourceOptions {
  EdgeOptions edges{};
  FeatureType feature_type = FeatureType::fp32;
  FeatureForm feature_form = FeatureForm::automatic;
  RowNorm normalise_features = RowNorm::none;  ///< divide each row by its norm
  bool largest_component = false;              ///< keep only the largest weakly connected component
  SplitOptions split{};
  Resources resources{};  ///< for the conversion; not part of the document, as the result is the same

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("edges", self.edges);
    f("feature_type", self.feature_type);
    f("feature_form", self.feature_form);
    f("normalise_features", self.normalise_features);
    f("largest_component", self.largest_component);
    f("split", self.split);
  }
};

/// Writes the store of a source, atomically. Memory in addition to the mapped output: the edges in buckets,
/// up to options.resources.memory_bytes (build_csc), about 12 bytes per vertex (row pointers, labels), 8 per
/// labelled vertex for drawing a split, 8 to 16 per vertex with largest_component, and blocks of rows. Throws
/// InputError for invalid ids, features that are not finite or too large for their type, a missing split, a
/// per_class split of a multi-label graph, and an existing directory; and Failure on I/O errors.
void write_source(GraphSource source, const SourceOptions& options, Provenance provenance,
                  const std::filesystem::path& directory, const base::Progress& progress);

/// Loads a source as a graph in memory. Throws as write_source does.
Graph load_source(GraphSource source, const SourceOptions& options);

/// Returns the vertices of the largest weakly connected component, ascending. Of several largest components,
/// it is the one with the smallest vertex. Reads the edges once; uses 16 bytes per vertex.
std::vector<VertexId> largest_component(std::int64_t num_vertices, const EdgeStream& edges,
                                        const std::string& where);

/// Returns the subgraph induced by `kept` (ascending), renumbered from 0 in that order.
GraphSource restrict_to(GraphSource source, std::vector<VertexId> kept);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::RowNorm> {
  static constexpr std::array<std::pair<graph::RowNorm, std::string_view>, 3> values{
      {{graph::RowNorm::none, "none"}, {graph::RowNorm::l1, "l1"}, {graph::RowNorm::l2, "l2"}}};
};
