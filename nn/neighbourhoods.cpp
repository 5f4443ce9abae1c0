#include "nn/neighbourhoods.h"

#include <ATen/ATen.h>

#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/dense/chunks.h"

namespace gnomon::nn {
namespace {

constexpr std::int64_t elements_per_chunk = 1 << 16;

/// Fills a tensor of `count` elements, element by element, on all threads.
template <class T, class Element>
at::Tensor filled(std::int64_t count, at::ScalarType type, const Element& element) {
  auto tensor = at::empty({count}, type);
  auto* values = tensor.mutable_data_ptr<T>();
  for_each_chunk(count, elements_per_chunk, [&](std::int64_t begin, std::int64_t length) {
    for (std::int64_t i = begin; i < begin + length; ++i) {
      values[i] = static_cast<T>(element(i));
    }
  });
  return tensor;
}

}  // namespace

Neighbourhoods::Neighbourhoods(const graph::Graph& graph, at::Device device, bool with_degrees)
    : graph_(graph), device_(device) {
  if (graph.num_vertices() > std::numeric_limits<std::int32_t>::max()) {
    throw base::InputError(graph.name, "has " + std::to_string(graph.num_vertices()) +
                                           " vertices; graphs of 2^31 and more cannot be evaluated");
  }
  if (with_degrees) {
    degrees_ = filled<float>(graph.num_vertices(), at::kFloat,
                             [&](std::int64_t vertex) { return graph.degree(vertex); });
    inverse_roots_ = inverse_roots_of(degrees_);
  }
  if (!device.is_cpu()) {
    sampler_ = std::make_unique<kernels::cpu::Sampler>(graph, std::vector<std::int32_t>{-1});
  }
}

Neighbourhoods::~Neighbourhoods() = default;

std::int64_t Neighbourhoods::range_end(std::int64_t begin, std::int64_t bytes, std::int64_t vertex_bytes,
                                       std::int64_t edge_bytes) const {
  std::int64_t end = begin;
  std::int64_t taken = 0;
  while (end < graph_.num_vertices()) {
    taken += vertex_bytes + edge_bytes * graph_.degree(end);
    if (end > begin && taken > bytes) {
      break;
    }
    ++end;
  }
  return end;
}

Neighbourhood Neighbourhoods::of(std::int64_t begin, std::int64_t end) {
  return have_all_sources() ? of_all_sources(begin, end) : of_local_sources(begin, end);
}

Neighbourhood Neighbourhoods::of_all_sources(std::int64_t begin, std::int64_t end) const {
  const auto* pointers = graph_.indptr.data();
  const std::int64_t first = pointers[begin];
  const auto* neighbours = graph_.indices.data() + first;
  auto indptr = filled<std::int64_t>(end - begin + 1, at::kLong,
                                     [&](std::int64_t row) { return pointers[begin + row] - first; });
  auto indices = filled<std::int32_t>(pointers[end] - first, at::kInt,
                                      [&](std::int64_t edge) { return neighbours[edge]; });
  auto block = std::make_shared<const SparseBlock>(graph_.num_vertices(), std::move(indptr),
                                                   std::move(indices), cpu_sparse_kernels(), begin);
  return {{std::move(block), degrees_, inverse_roots_, true}, {}};
}

Neighbourhood Neighbourhoods::of_local_sources(std::int64_t begin, std::int64_t end) {
  std::vector<graph::VertexId> seeds(static_cast<std::size_t>(end - begin));
  std::iota(seeds.begin(), seeds.end(), begin);
  sampler_->sample({}, seeds, batch_);
  auto sources = at::from_blob(batch_.vertices.data(), {std::ssize(batch_.vertices)}, at::kLong);
  const auto degrees = degrees_.defined() ? degrees_.index_select(0, sources).to(device_) : degrees_;
  return {{on_device(*view_of(batch_.blocks.front()), device_), degrees}, std::move(sources)};
}

Projection rows_of(const Neighbourhood& neighbourhood, const Projection& values) {
  if (!neighbourhood.sources.defined()) {
    return values;
  }
  Projection rows;
  for (const auto& value : values) {
    rows.push_back(value.index_select(0, neighbourhood.sources).to(neighbourhood.hop.block->device()));
  }
  return rows;
}

}  // namespace gnomon::nn
