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

/// The maximum size of a chunk, in which a vertex takes `vertex_bytes` and each of its in-edges `edge_bytes`.
struct ChunkLimits {
  std::int64_t bytes = 0;
  std::int64_t vertex_bytes = 0;
  std::int64_t edge_bytes = 0;
};

/// Divides `vertices` (int64 on the CPU; undefined: all of the graph's) into chunks within the limits, each
/// of at least one vertex.
class VertexChunks {
 public:
  VertexChunks(const graph::Graph& graph, at::Tensor vertices, const ChunkLimits& limits);
  /// Chunks that fit the caches of one core, and are smaller for few vertices, so that all threads get some.
  /// They do not depend on the number of threads.
  static VertexChunks of_one_thread(const graph::Graph& graph, at::Tensor vertices, ChunkLimits limits);

  /// Maximum bytes of a chunk of of_one_thread(), unless a single vertex takes more.
  static constexpr std::int64_t max_thread_bytes = std::int64_t{8} << 20;

  /// Calls body(chunk) for the chunks in order, and `between` after each.
  void for_each(const std::function<void(const VertexChunk&)>& body,
                const std::function<void()>& between) const;
  /// Calls body(chunk) on up to at::get_num_threads() threads, each chunk on one of them, and `between` on
  /// the calling thread after each of its own, and once more after all chunks, of which other threads may
  /// have taken every one. The first exception ends the loop and is thrown.
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
