#include "nn/neighbourhoods.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "nn/dense/chunks.h"
#include "nn/tensor_batch.h"

namespace gnomon::nn {
namespace {

constexpr std::int64_t vertices_per_chunk = 1 << 12;

at::Tensor degrees_of(const graph::Graph& graph) {
  auto degrees = at::empty({graph.num_vertices()}, at::kFloat);
  auto* values = degrees.mutable_data_ptr<float>();
  for_each_chunk(graph.num_vertices(), vertices_per_chunk, [&](std::int64_t first, std::int64_t length) {
    for (std::int64_t vertex = first; vertex < first + length; ++vertex) {
      values[vertex] = static_cast<float>(graph.degree(vertex));
    }
  });
  return degrees;
}

}  // namespace

Neighbourhoods::Neighbourhoods(const graph::Graph& graph, at::Device device, bool with_degrees)
    : graph_(graph), device_(device) {
  if (graph.num_vertices() > std::numeric_limits<std::int32_t>::max()) {
    throw base::InputError(graph.name, "has " + std::to_string(graph.num_vertices()) +
                                           " vertices; graphs of 2^31 and more cannot be evaluated");
  }
  if (with_degrees) {
    degrees_ = degrees_of(graph).to(device);
    inverse_roots_ = inverse_roots_of(degrees_);
  }
}

Hop Neighbourhoods::of(const at::Tensor& vertices) const {
  const auto count = vertices.size(0);
  const auto* ids = vertices.const_data_ptr<std::int64_t>();
  auto indptr = at::zeros({count + 1}, at::kLong);
  auto* begins = indptr.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    begins[i + 1] = begins[i] + graph_.degree(ids[i]);
  }
  auto indices = at::empty({begins[count]}, at::kInt);
  auto* sources = indices.mutable_data_ptr<std::int32_t>();
  for_each_chunk(count, vertices_per_chunk, [&](std::int64_t first, std::int64_t length) {
    for (std::int64_t i = first; i < first + length; ++i) {
      const auto neighbours = graph_.neighbours(ids[i]);
      std::transform(neighbours.begin(), neighbours.end(), sources + begins[i],
                     [](graph::VertexId vertex) { return static_cast<std::int32_t>(vertex); });
    }
  });
  auto block = std::make_shared<const SparseBlock>(graph_.num_vertices(), std::move(indptr),
                                                   std::move(indices), cpu_sparse_kernels(), vertices);
  return {device_.is_cpu() ? std::move(block) : on_device(*block, device_), degrees_, inverse_roots_, true};
}

at::Tensor with_neighbours(const graph::Graph& graph, const at::Tensor& vertices) {
  auto is_needed = at::zeros({graph.num_vertices()}, at::kByte);
  auto* marks = is_needed.mutable_data_ptr<std::uint8_t>();
  const auto* ids = vertices.const_data_ptr<std::int64_t>();
  // Several threads may mark the same vertex.
  const auto mark = [marks](graph::VertexId vertex) {
    std::atomic_ref<std::uint8_t>(marks[vertex]).store(1, std::memory_order_relaxed);
  };
  for_each_chunk(vertices.size(0), vertices_per_chunk, [&](std::int64_t first, std::int64_t length) {
    for (std::int64_t i = first; i < first + length; ++i) {
      mark(ids[i]);
      const auto neighbours = graph.neighbours(ids[i]);
      std::for_each(neighbours.begin(), neighbours.end(), mark);
    }
  });
  return is_needed.nonzero().flatten();
}

}  // namespace gnomon::nn
