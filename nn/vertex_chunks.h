#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gnomon::nn {

/// Vertices whose rows are computed together.
struct VertexChunk {
  at::Tensor vertices;     ///< int64
  std::int64_t first = 0;  ///< position of the first one among all that are computed

  std::span<const graph::VertexId> ids() const {
    return {vertices.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(vertices.size(0))};
  }
};

/// What a chunk may take: a vertex `vertex_bytes`, each of its in-edges `edge_bytes`.
struct ChunkLimits {
  std::int64_t bytes = 0;
  std::int64_t vertex_bytes = 0;
  std::int64_t edge_bytes = 0;
};

/// Cuts `vertices` (int64 on the CPU; undefined: all of the graph's) into chunks within the limits, but of at
/// least one vertex each.
class VertexChunks {
 public:
  VertexChunks(const graph::Graph& graph, at::Tensor vertices, const ChunkLimits& limits);
  /// Chunks that one thread computes within its caches: of at most 512 vertices, and of fewer where there are
  /// few, so that all threads have some. They do not depend on the number of threads.
  static VertexChunks of_one_thread(const graph::Graph& graph, at::Tensor vertices, ChunkLimits limits);

  /// The bytes of a chunk of one thread at most, unless one vertex takes more.
  static constexpr std::int64_t max_thread_bytes = std::int64_t{8} << 20;

  /// Calls body(chunk) for one chunk after the other, and `between` after each.
  void for_each(const std::function<void(const VertexChunk&)>& body,
                const std::function<void()>& between) const;
  /// Calls body(chunk) on up to at::get_num_threads() threads, each chunk on one of them, and `between` on
  /// the calling thread after each of its own. The first exception ends the loop and is thrown.
  void for_each_on_threads(const std::function<void(const VertexChunk&)>& body,
                           const std::function<void()>& between) const;

 private:
  VertexChunks(const graph::Graph& graph, at::Tensor vertices, const ChunkLimits& limits,
               std::int64_t max_vertices);
  VertexChunk chunk(std::int64_t number) const;

  at::Tensor vertices_;
  std::vector<std::int64_t> bounds_{0};  ///< where each chunk begins, and the end of the last
};

}  // namespace gnomon::nn
