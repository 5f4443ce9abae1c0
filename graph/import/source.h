#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/splits.h"
#include "graph/store/builder.h"
#include "graph/store/store.h"

namespace gnomon::graph {

/// Hands whole feature rows, in order of the vertices, to the visitor.
using RowVisitor = std::function<void(std::span<const float>)>;
using RowStream = std::function<void(const RowVisitor&)>;

/// A graph as an importer or generator gives it: edges and features as streams that are never held whole.
struct GraphSource {
  std::string name;
  std::string where;  ///< the file that errors name
  std::int64_t num_vertices = 0;
  EdgeStream edges;
  bool weighted = false;             ///< whether the edges' weights count
  std::int64_t feature_columns = 0;  ///< 0: no features
  RowStream features;
  std::string features_where;          ///< the file or array that errors in features name
  std::vector<std::int32_t> labels;    ///< num_vertices, or empty
  Split split;                         ///< what the data gives; may be empty
  std::vector<VertexId> original_ids;  ///< num_vertices, when the vertices were renamed; else empty
};

/// l1: the sum of a row's absolute values; l2: its length.
enum class RowNorm : std::uint8_t { none, l1, l2 };

/// What is made of a source.
struct SourceOptions {
  EdgeOptions edges{};
  FeatureType feature_type = FeatureType::fp32;
  RowNorm normalise_features = RowNorm::none;  ///< divide each row by its norm
  bool largest_component = false;              ///< keep only the largest weakly connected component
  SplitOptions split{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("edges", self.edges);
    f("feature_type", self.feature_type);
    f("normalise_features", self.normalise_features);
    f("largest_component", self.largest_component);
    f("split", self.split);
  }
};

/// Writes the store of a source, atomically. Memory beside the mapped output: about 12 bytes a vertex (row
/// pointers, labels), 8 a labelled vertex for a split, 8 to 16 a vertex with largest_component, and blocks of
/// rows. Throws InputError (bad ids, features not finite or too large for fp16, no split where one must be
/// given, directory exists) and Failure (disk).
void write_source(GraphSource source, const SourceOptions& options, Provenance provenance,
                  const std::filesystem::path& directory, const base::Progress& progress);

/// The same as a graph in memory.
Graph load_source(GraphSource source, const SourceOptions& options);

/// The vertices of the largest weakly connected component, ascending; of equally large ones that with the
/// smallest vertex. Reads the edges once; takes 16 bytes a vertex.
std::vector<VertexId> largest_component(std::int64_t num_vertices, const EdgeStream& edges,
                                        const std::string& where);

/// Keeps only `kept` vertices (ascending) of a source, renumbered from 0 in that order.
GraphSource restrict_to(GraphSource source, std::vector<VertexId> kept);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::RowNorm> {
  static constexpr std::array<std::pair<graph::RowNorm, std::string_view>, 3> values{
      {{graph::RowNorm::none, "none"}, {graph::RowNorm::l1, "l1"}, {graph::RowNorm::l2, "l2"}}};
};
