#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "base/document.h"
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
