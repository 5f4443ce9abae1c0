#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// none: as the data has them. degree: those that most others gather from come first, so that rows which are
/// used often lie together. rcm: reverse Cuthill-McKee (Cuthill and McKee, ACM 1969; George 1971), by the
/// Boost Graph Library: neighbours get near ids.
enum class VertexOrder : std::uint8_t { none, degree, rcm };

/// The vertices in an order: entry i is the vertex that comes at place i. Equal ones stay in the order of
/// their ids. degree takes 16 bytes a vertex; rcm takes up to 32 bytes an edge, and begins each component at
/// a vertex of least degree.
std::vector<VertexId> vertices_in_order(const Graph& graph, VertexOrder order);

/// The same graph with vertex order[i] called i, in memory: edges (rows ascending) and their weights,
/// features, labels, splits (ascending) and original ids move with their vertices. `order` holds each vertex
/// once.
Graph reordered(const Graph& graph, std::span<const VertexId> order);

/// Makes a store in an order: `write` makes it at the path that it is given, from which it moves, reordered,
/// to `directory`. Throws as StoreWriter does.
void write_in_order(VertexOrder order, const std::filesystem::path& directory,
                    const std::function<void(const std::filesystem::path&)>& write,
                    const base::Progress& progress = {});

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::VertexOrder> {
  static constexpr std::array<std::pair<graph::VertexOrder, std::string_view>, 3> values{
      {{graph::VertexOrder::none, "none"},
       {graph::VertexOrder::degree, "degree"},
       {graph::VertexOrder::rcm, "rcm"}}};
};
