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

/// Messages flow from source to destination: the source is an in-neighbour of the destination.
struct Edge {
  VertexId source = 0;
  VertexId destination = 0;
  float weight = 1;  ///< of use only where edges have weights
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// keep: as given; remove: none; add: exactly one at every vertex, of weight 1.
enum class SelfLoops : std::uint8_t { keep, remove, add };
/// Edges of the same source and destination: remove all but one (that of the largest weight), or keep all.
enum class Duplicates : std::uint8_t { remove, keep };

struct EdgeOptions {
  bool undirected = false;  ///< add the reverse of every edge (a self-loop is its own), of the same weight
  SelfLoops self_loops = SelfLoops::keep;
  Duplicates duplicates = Duplicates::remove;
  bool reverse = false;  ///< turn every edge round: vertices then gather along their out-edges

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("undirected", self.undirected);
    f("self_loops", self.self_loops);
    f("duplicates", self.duplicates);
    f("reverse", self.reverse);
  }
};

/// Hands the same edges, block by block and in the same order, to the visitor each time it is called.
using EdgeVisitor = std::function<void(std::span<const Edge>)>;
using EdgeStream = std::function<void(const EdgeVisitor&)>;

/// Where a build puts its edges; `weights` is null when they have none.
struct EdgeRoom {
  VertexId* indices = nullptr;
  float* weights = nullptr;
};
/// Room for `count` edges, valid until the build has returned.
using AllocateEdges = std::function<EdgeRoom(std::int64_t count)>;

/// Builds the CSC form of a stream of edges and returns indptr (num_vertices + 1); the first indptr.back()
/// ids of the allocated room are the indices, each row ascending, and their weights lie beside them. Reads
/// the stream twice (count, fill). Beside the room, which holds every edge before duplicates go, it takes 8
/// bytes a vertex. Throws InputError naming `where` at an id outside [0, num_vertices) or a weight that is
/// negative or not finite.
std::vector<std::int64_t> build_csc(std::int64_t num_vertices, const EdgeStream& edges,
                                    const EdgeOptions& options, const AllocateEdges& allocate,
                                    const std::string& where, const base::Progress& progress = {});

/// What a graph in memory is made of. Features are row-major fp32, num_vertices × feature_columns, or empty.
struct GraphParts {
  std::string name = "graph";
  std::int64_t num_vertices = 0;
  std::vector<Edge> edges;
  EdgeOptions edge_options{};
  bool weighted = false;  ///< whether the graph holds the edges' weights
  std::vector<float> features;
  std::int64_t feature_columns = 0;
  FeatureType feature_type = FeatureType::fp32;  ///< what the graph holds; fp16 rounds to nearest even
  std::vector<std::int32_t> labels;              ///< classes are 0 … largest label
  std::vector<VertexId> train, valid, test;
};

/// A graph in memory; for tests and small graphs. Throws InputError when sizes or ids do not fit.
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
  static constexpr std::array<std::pair<graph::Duplicates, std::string_view>, 2> values{
      {{graph::Duplicates::remove, "remove"}, {graph::Duplicates::keep, "keep"}}};
};

template <>
struct gnomon::base::EnumNames<gnomon::graph::FeatureType> {
  static constexpr std::array<std::pair<graph::FeatureType, std::string_view>, 2> values{
      {{graph::FeatureType::fp32, "fp32"}, {graph::FeatureType::fp16, "fp16"}}};
};
