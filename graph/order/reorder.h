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
#include "graph/resources.h"

namespace gnomon::graph {

class StoreWriter;

/// none: the order of the input data.
/// degree: descending out-degree, so that the rows that are read most often are adjacent.
/// rcm: reverse Cuthill-McKee (Cuthill and McKee, ACM 1969; George, 1971) by the Boost Graph Library, which
/// gives neighbours nearby ids.
enum class VertexOrder : std::uint8_t { none, degree, rcm };

/// Returns a vertex order as a permutation: entry i is the old id of the vertex at position i. Ties keep the
/// order of the ids. degree uses 16 bytes per vertex; rcm uses up to 32 bytes per edge and starts each
/// component at a vertex of minimum degree.
std::vector<VertexId> vertices_in_order(const Graph& graph, VertexOrder order);

/// Returns a copy of the graph in memory in which vertex order[i] has id i: edges (rows ascending) with their
/// weights, features, labels, splits (ascending) and original ids are permuted. Precondition: `order` is a
/// permutation of the vertices.
Graph reordered(const Graph& graph, std::span<const VertexId> order);

/// Writes the arrays of the graph in which vertex order[i] has id i, reading and writing everything in
/// sequence; the caller commits the store. Precondition: `order` is a permutation of the vertices. Throws
/// Failure on I/O errors.
void write_reordered(const Graph& graph, std::span<const VertexId> order, const StoreWriter& writer,
                     Resources resources, const base::Progress& progress = {});

/// Writes a store in an order: `write` writes the store in the input's order to a temporary path, from which
/// it is copied to `directory` in the new order, reading and writing everything in sequence. Throws as
/// StoreWriter does.
void write_in_order(VertexOrder order, const std::filesystem::path& directory,
                    const std::function<void(const std::filesystem::path&)>& write,
                    const base::Progress& progress = {}, const Resources& resources = {});

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::VertexOrder> {
  static constexpr std::array<std::pair<graph::VertexOrder, std::string_view>, 3> values{
      {{graph::VertexOrder::none, "none"},
       {graph::VertexOrder::degree, "degree"},
       {graph::VertexOrder::rcm, "rcm"}}};
};
