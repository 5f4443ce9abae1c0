#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace gnomon::graph {

/// A vertex id; also the type of row pointers.
using VertexId = std::int64_t;

/// The element type of features. fp16 is IEEE binary16.
enum class FeatureType : std::uint8_t { fp32, fp16 };

constexpr std::int64_t bytes_of(FeatureType type) { return type == FeatureType::fp32 ? 4 : 2; }

/// Dense row-major features, one row a vertex; `data` is null when the graph has none.
struct Features {
  const std::byte* data = nullptr;
  FeatureType type = FeatureType::fp32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t row_bytes() const { return columns * bytes_of(type); }
  const std::byte* row(VertexId vertex) const { return data + vertex * row_bytes(); }
};

/// A graph in compressed sparse column form: the in-neighbours of v, from which v gathers, are
/// indices[indptr[v]] … indices[indptr[v+1]-1]. A value type: copies share the memory behind the spans, which
/// `storage` keeps alive (a memory map of the store, or vectors).
struct Graph {
  std::string name;
  std::filesystem::path directory;       ///< the store it was opened from; empty when made in memory
  std::span<const std::int64_t> indptr;  ///< vertices + 1, from 0 to edges, not falling
  std::span<const VertexId> indices;     ///< edges
  std::span<const float> edge_weights;   ///< of indices, finite and not negative; or empty
  Features features;
  std::span<const std::int32_t> labels;  ///< vertices, or empty; -1 where not known
  std::int32_t num_classes = 0;
  std::span<const VertexId> train;  ///< vertices of each split, ascending, disjoint
  std::span<const VertexId> valid;
  std::span<const VertexId> test;
  std::span<const VertexId> original_ids;  ///< what the data calls each vertex; empty: the same
  std::shared_ptr<const void> storage;

  std::int64_t num_vertices() const {
    return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1;
  }
  std::int64_t num_edges() const { return static_cast<std::int64_t>(indices.size()); }
  std::int64_t degree(VertexId vertex) const {
    return indptr[static_cast<std::size_t>(vertex) + 1] - indptr[static_cast<std::size_t>(vertex)];
  }
  /// Of all vertices; reads every row pointer.
  std::int64_t max_degree() const {
    std::int64_t most = 0;
    for (VertexId vertex = 0; vertex < num_vertices(); ++vertex) {
      most = std::max(most, degree(vertex));
    }
    return most;
  }
  /// What the data calls a vertex.
  VertexId original_id(VertexId vertex) const {
    return original_ids.empty() ? vertex : original_ids[static_cast<std::size_t>(vertex)];
  }
  std::span<const VertexId> neighbours(VertexId vertex) const {
    return indices.subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(vertex)]),
                           static_cast<std::size_t>(degree(vertex)));
  }
};

/// Opens a store (meta.json and .npy files, memory-mapped) in time that does not grow with the graph: headers
/// and sizes are checked, contents are not (validate does that). Throws InputError naming file and field.
Graph open_store(const std::filesystem::path& directory);

/// Reads everything once and throws InputError, naming file and field, at the first fault: indptr not
/// monotone, index out of range, edge weight negative, NaN or infinite, NaN or infinite feature, label
/// outside [-1, classes), split vertex out of range, repeated or in two splits, and, with `for_training`, no
/// features, no labels, an empty training set or a training vertex without a label.
void validate(const Graph& graph, bool for_training);

}  // namespace gnomon::graph
