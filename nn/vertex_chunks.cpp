#include "nn/vertex_chunks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "nn/dense/chunks.h"

namespace gnomon::nn {

VertexChunks::VertexChunks(const graph::Graph& graph, at::Tensor vertices, const ChunkLimits& limits)
    : VertexChunks(graph, std::move(vertices), limits, std::numeric_limits<std::int64_t>::max()) {}

VertexChunks VertexChunks::of_one_thread(const graph::Graph& graph, at::Tensor vertices, ChunkLimits limits) {
  constexpr std::int64_t max_vertices = 512;  // of which the operands of a GEMM fit a core's cache
  constexpr std::int64_t min_vertices = 32;
  constexpr std::int64_t min_chunks = 128;
  const auto count = vertices.defined() ? vertices.size(0) : graph.num_vertices();
  limits.bytes = std::min(limits.bytes, max_thread_bytes);
  return {graph, std::move(vertices), limits, std::clamp(count / min_chunks, min_vertices, max_vertices)};
}

VertexChunks::VertexChunks(const graph::Graph& graph, at::Tensor vertices, const ChunkLimits& limits,
                           std::int64_t max_vertices)
    : vertices_(std::move(vertices)) {
  const auto* ids = vertices_.defined() ? vertices_.const_data_ptr<std::int64_t>() : nullptr;
  const auto count = vertices_.defined() ? vertices_.size(0) : graph.num_vertices();
  while (bounds_.back() < count) {
    const auto begin = bounds_.back();
    auto end = begin;
    for (std::int64_t taken = 0; end < count && end - begin < max_vertices; ++end) {
      taken += limits.vertex_bytes + limits.edge_bytes * graph.degree(ids == nullptr ? end : ids[end]);
      if (end > begin && taken > limits.bytes) {
        break;
      }
    }
    bounds_.push_back(end);
  }
}

VertexChunk VertexChunks::chunk(std::int64_t number) const {
  const auto begin = bounds_[static_cast<std::size_t>(number)];
  const auto end = bounds_[static_cast<std::size_t>(number) + 1];
  return {vertices_.defined() ? vertices_.narrow(0, begin, end - begin) : at::arange(begin, end, at::kLong),
          begin};
}

void VertexChunks::for_each(const std::function<void(const VertexChunk&)>& body,
                            const std::function<void()>& between) const {
  for (std::int64_t number = 0; number + 1 < std::ssize(bounds_); ++number) {
    body(chunk(number));
    between();
  }
}

void VertexChunks::for_each_on_threads(const std::function<void(const VertexChunk&)>& body,
                                       const std::function<void()>& between) const {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> ended{false};
  for_each_chunk(std::ssize(bounds_) - 1, 1, [&](std::int64_t number, std::int64_t) {
    if (ended) {
      return;
    }
    try {
      body(chunk(number));
      if (std::this_thread::get_id() == caller) {
        between();
      }
    } catch (...) {
      ended = true;
      throw;
    }
  });
  between();
}

}  // namespace gnomon::nn
