#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// A directed edge. Messages flow from source to destination: the source is an in-neighbour of the
/// destination.
struct Edge {
  VertexId source = 0;
  VertexId destination = 0;
  float weight = 1;  ///< ignored for unweighted graphs
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// keep: keep the input's self-loops; remove: remove them; add: replace them by exactly one self-loop of
/// weight 1 at every vertex.
enum class SelfLoops : std::uint8_t { keep, remove, add };
/// Edges with equal source and destination, after `undirected` and `reverse`. remove: keep one, with weights
/// that of the largest weight; keep: keep all. For weighted edges only, one edge of a weight that is
/// sum: the sum of theirs, max: the largest, first: that of the first in the input's order.
enum class Duplicates : std::uint8_t { remove, keep, sum, max, first };

struct EdgeOptions {
  bool undirected = false;  ///< add the reverse of every edge but self-loops, with the same weight
  SelfLoops self_loops = SelfLoops::keep;
  Duplicates duplicates = Duplicates::remove;
  bool reverse = false;  ///< reverse every edge, so that vertices aggregate along their out-edges

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("undirected", self.undirected);
    f("self_loops", self.self_loops);
    f("duplicates", self.duplicates);
    f("reverse", self.reverse);
  }
};

/// Passes all edges to the visitor, block by block. Every call yields the same edges in the same order.
using EdgeVisitor = std::function<void(std::span<const Edge>)>;
using EdgeStream = std::function<void(const EdgeVisitor&)>;

/// The output buffers of build_csc; `weights` is null for unweighted graphs.
struct EdgeBuffers {
  VertexId* indices = nullptr;
  float* weights = nullptr;
};
/// Returns buffers for `count` edges that stay valid until build_csc returns.
using AllocateEdges = std::function<EdgeBuffers(std::int64_t count)>;

/// Builds the CSC form of a stream of edges. Returns indptr (num_vertices + 1); the first indptr.back()
/// elements of the allocated buffers are the indices, ascending in each row, and their weights. The stream is
/// read twice, to count and to fill. The buffers hold every edge before duplicates are removed; beside them
/// the build uses 8 bytes per vertex. Throws InputError, naming `where`, for an id outside [0, num_vertices),
/// for a weight that is negative or not finite, and for a sum of weights beyond the range of fp32.
std::vector<std::int64_t> build_csc(std::int64_t num_vertices, const EdgeStream& edges,
                                    const EdgeOptions& options, const AllocateEdges& allocate,
                                    const std::string& where, const base::Progress& progress = {});

/// The input of make_graph. Features are row-major fp32, num_vertices × feature_columns, or empty.
struct GraphParts {
  std::string name = "graph";
  std::int64_t num_vertices = 0;
  std::vector<Edge> edges;
  EdgeOptions edge_options{};
  bool weighted = false;  ///< whether the graph holds the edges' weights
  std::vector<float> features;
  std::int64_t feature_columns = 0;
  FeatureType feature_type = FeatureType::fp32;  ///< the graph's type; fp16 rounds to nearest even
  std::vector<std::int32_t> labels;              ///< num_vertices, or empty; classes are 0 … largest label
  std::vector<VertexId> train, valid, test;
};

/// Makes a graph in memory, for tests and small graphs. Throws InputError for inconsistent sizes and invalid
/// ids.
Graph make_graph(GraphParts parts);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::SelfLoops> {
  static constexpr std::array<std::pair<graph::SelfLoops, std::string_view>, 3> values{
      {{graph::SelfLoops::keep, "keep"},
       {graph::SelfLoops::remove, "remove"},
       {graph::SelfLoops::add, "add"}}};
};

template <>
struct gnomon::base::EnumNames<gnomon::graph::Duplicates> {
  static constexpr std::array<std::pair<graph::Duplicates, std::string_view>, 5> values{
      {{graph::Duplicates::remove, "remove"},
       {graph::Duplicates::keep, "keep"},
       {graph::Duplicates::sum, "sum"},
       {graph::Duplicates::max, "max"},
       {graph::Duplicates::first, "first"}}};
};

template <>
struct gnomon::base::EnumNames<gnomon::graph::FeatureType> {
  static constexpr std::array<std::pair<graph::FeatureType, std::string_view>, 2> values{
      {{graph::FeatureType::fp32, "fp32"}, {graph::FeatureType::fp16, "fp16"}}};
};
