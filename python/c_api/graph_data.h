#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"

namespace gnomon::c_api {

/// The original ids of a graph's edges, by their positions in the graph's indices.
struct EdgeOrder {
  std::span<const std::uint32_t> narrow;  ///< used up to 2^32 edges
  std::span<const std::int64_t> wide;
  std::shared_ptr<const void> storage;

  bool is_identity() const { return narrow.empty() && wide.empty(); }
};

/// A graph in the form that loaders sample. Its indices are valid.
struct GraphData {
  kernels::cpu::Topology topology;
  EdgeOrder order;
  std::optional<graph::Graph> store;  ///< the store that it was opened from
};

/// Edges from sources[e] to destinations[e].
struct EdgeArrays {
  std::int64_t num_vertices = 0;
  std::span<const std::int64_t> sources;
  std::span<const std::int64_t> destinations;
  std::span<const float> weights;  ///< empty if unweighted
};

/// Makes a graph from edges in any order. The neighbours of a vertex keep the order of the edges. Throws
/// InputError for ids out of range and for invalid weights.
GraphData graph_from_edges(const EdgeArrays& edges);

/// The CSC form of a graph.
struct CscArrays {
  std::span<const std::int64_t> indptr;
  std::span<const std::int64_t> sources;
  std::span<const std::int64_t> edge_ids;  ///< empty: positions
  std::span<const float> weights;          ///< empty if unweighted
};
/// Throws InputError for row pointers that are not monotone, for ids out of range and for invalid weights.
GraphData graph_from_csc(const CscArrays& arrays);

/// Opens a store and copies its structure into memory if it takes at most half of the available memory.
/// Throws InputError if open_store() does, and for an invalid structure.
GraphData graph_from_store(const std::filesystem::path& directory, bool weighted);

/// Interleaves the graph's structure over these NUMA nodes. Throws Failure if the system refuses.
void spread(const GraphData& data, const std::vector<int>& nodes);

/// Replaces positions in the graph's indices by the edges' original ids.
void to_original_ids(const EdgeOrder& order, std::span<std::int64_t> edges);

}  // namespace gnomon::c_api
