#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "kernels/headroom.h"
#include "nn/sparse/sparse_block.h"
#include "runtime/device/batch_maker.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

/// A tensor on the first `sizes` elements of an array, whose memory it keeps.
template <class T>
at::Tensor tensor_on(const kernels::device::Array<T>& array, at::IntArrayRef sizes, at::Device device,
                     at::ScalarType type) {
  return at::from_blob(
      array.data, sizes, [memory = array.memory](void*) {}, at::TensorOptions(type).device(device));
}

template <class Executor>
BatchMaker<Executor>::BatchMaker(Executor& executor, DeviceGraph graph, const std::vector<int>& fanouts,
                                 kernels::device::Reads reads, at::Device device)
    : executor_(executor), graph_(std::move(graph)), fanouts_(fanouts), reads_(reads), device_(device) {
  start_sampler();
}

template <class Executor>
void BatchMaker<Executor>::start_sampler() {
  sampler_ = std::make_unique<kernels::device::Sampler<Executor>>(executor_, graph_.topology, fanouts_);
}

/// The sampled mini-batch; its reads of lists are counted.
template <class Executor>
kernels::device::MiniBatch BatchMaker<Executor>::draw(const kernels::BatchKey& key,
                                                      std::span<const graph::VertexId> seeds) {
  auto sampled = sampler_->sample(key, seeds.data(), std::ssize(seeds));
  if (graph_.topology.slots != nullptr) {
    for (const auto& block : sampled.blocks) {
      kernels::device::count_hits(executor_, graph_.topology.slots, sampled.vertices.data,
                                  block.num_destinations, use_.data + 2, use_.data + 3);
    }
  }
  return sampled;
}

template <class Executor>
kernels::device::Array<std::int64_t> BatchMaker<Executor>::labels_of(
    const kernels::device::MiniBatch& batch) {
  auto labels = kernels::device::make_array<std::int64_t>(executor_, batch.num_seeds);
  kernels::device::gather_labels(executor_, graph_.labels, batch.vertices.data, batch.num_seeds, labels.data);
  return labels;
}

template <class Executor>
kernels::device::Array<float> BatchMaker<Executor>::degrees_of(const kernels::device::MiniBatch& batch) {
  auto degrees = kernels::device::make_array<float>(executor_, batch.num_vertices);
  kernels::device::gather_degrees(executor_, graph_.topology, batch.vertices.data, batch.num_vertices,
                                  degrees.data);
  return degrees;
}

template <class Executor>
at::Tensor BatchMaker<Executor>::gather(const std::int64_t* vertices, std::int64_t count) {
  namespace device = kernels::device;
  const auto features = device::make_array<std::byte>(executor_, count * graph_.rows.row_bytes);
  device::gather_rows(executor_, graph_.rows, reads_, vertices, count, features.data);
  count_rows(vertices, count);
  const auto type = graph_.feature_type == graph::FeatureType::fp32 ? at::kFloat : at::kHalf;
  return tensor_on(features, {count, graph_.columns}, device_, type);
}

template <class Executor>
void BatchMaker<Executor>::count_rows(const std::int64_t* vertices, std::int64_t count) {
  if (graph_.rows.slots != nullptr) {
    kernels::device::count_hits(executor_, graph_.rows.slots, vertices, count, use_.data, use_.data + 1);
  }
}

template <class Executor>
kernels::device::Rows BatchMaker<Executor>::lend_rows(const std::int64_t* vertices, std::int64_t count) {
  count_rows(vertices, count);
  return graph_.rows;
}

template <class Executor>
DeviceBatch BatchMaker<Executor>::without_features(const kernels::device::MiniBatch& sampled) {
  const std::int64_t rows = sampled.num_vertices;
  DeviceBatch batch;
  batch.tensors = {{},
                   tensor_on(labels_of(sampled), {sampled.num_seeds}, device_, at::kLong),
                   tensor_on(degrees_of(sampled), {rows}, device_, at::kFloat),
                   {}};
  batch.num_vertices = rows;
  batch.bytes = rows * 4 + 8 * sampled.num_seeds;
  for (const auto& block : sampled.blocks) {
    batch.tensors.blocks.push_back(std::make_shared<nn::SparseBlock>(
        block.num_sources, tensor_on(block.indptr, {block.num_destinations + 1}, device_, at::kLong),
        tensor_on(block.indices, {block.num_edges}, device_, at::kInt)));
    batch.num_edges += block.num_edges;
    batch.bytes += 8 * (block.num_destinations + 1) + 4 * block.num_edges;
  }
  return batch;
}

template <class Executor>
DeviceBatch BatchMaker<Executor>::prepare(const kernels::BatchKey& key,
                                          std::span<const graph::VertexId> seeds) {
  const auto sampled = draw(key, seeds);
  auto batch = without_features(sampled);
  batch.tensors.features = gather(sampled.vertices.data, sampled.num_vertices);
  batch.bytes += sampled.num_vertices * graph_.rows.row_bytes;
  return batch;
}

template <class Executor>
DeviceBatch BatchMaker<Executor>::prepare_sample(const kernels::BatchKey& key,
                                                 std::span<const graph::VertexId> seeds) {
  const auto sampled = draw(key, seeds);
  auto batch = without_features(sampled);
  batch.vertices = tensor_on(sampled.vertices, {sampled.num_vertices}, device_, at::kLong);
  return batch;
}

template <class Executor>
template <class T>
void BatchMaker<Executor>::download(const Array<T>& from, std::int64_t count, std::vector<T>& to) {
  kernels::resize_with_headroom(to, static_cast<std::size_t>(count));
  executor_.download(to.data(), from.data, to.size() * sizeof(T));
}

template <class Executor>
void BatchMaker<Executor>::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                  BatchData& data) {
  const auto sampled = draw(key, seeds);
  data.feature_type = graph_.feature_type;
  data.columns = graph_.columns;
  data.features.resize(0);
  data.batch.num_seeds = sampled.num_seeds;
  download(sampled.vertices, sampled.num_vertices, data.batch.vertices);
  download(labels_of(sampled), sampled.num_seeds, data.labels);
  download(degrees_of(sampled), sampled.num_vertices, data.degrees);
  data.batch.blocks.resize(sampled.blocks.size());
  for (std::size_t hop = 0; hop < sampled.blocks.size(); ++hop) {
    const auto& from = sampled.blocks[hop];
    auto& to = data.batch.blocks[hop];
    to.num_destinations = from.num_destinations;
    to.num_sources = from.num_sources;
    download(from.indptr, from.num_destinations + 1, to.indptr);
    download(from.indices, from.num_edges, to.indices);
    to.edge_ids.clear();
  }
}

template <class Executor>
void BatchMaker<Executor>::visit(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  const std::int64_t vertices = graph_.topology.num_vertices;
  if (row_visits_.count == 0) {
    for (auto* visits : {&row_visits_, &list_visits_}) {
      *visits = kernels::device::make_array<std::uint32_t>(executor_, vertices);
      executor_.fill(visits->data, 0, static_cast<std::size_t>(vertices) * sizeof(std::uint32_t));
    }
  }
  const auto sampled = sampler_->sample(key, seeds.data(), std::ssize(seeds));
  kernels::device::count_visits(executor_, sampled.vertices.data, sampled.num_vertices, row_visits_.data);
  for (const auto& block : sampled.blocks) {
    kernels::device::count_visits(executor_, sampled.vertices.data, block.num_destinations,
                                  list_visits_.data);
  }
}

template <class Executor>
Visits BatchMaker<Executor>::take_visits() {
  Visits visits;
  const auto vertices = static_cast<std::size_t>(graph_.topology.num_vertices);
  for (auto [from, to] : {std::pair(&row_visits_, &visits.rows), std::pair(&list_visits_, &visits.lists)}) {
    to->resize(vertices);
    if (from->count > 0) {
      executor_.download(to->data(), from->data, vertices * sizeof(std::uint32_t));
    }
    *from = {};
  }
  return visits;
}

template <class Executor>
kernels::device::Array<std::int64_t> BatchMaker<Executor>::on_device(std::span<const std::int64_t> values) {
  auto array = kernels::device::make_array<std::int64_t>(executor_, std::ssize(values));
  executor_.upload(array.data, values.data(), values.size_bytes());
  return array;
}

/// The number of each of `vertices` among them, -1 of all others.
template <class Executor>
kernels::device::Array<std::int32_t> BatchMaker<Executor>::slots_of(
    std::span<const graph::VertexId> vertices) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(graph_.topology.num_vertices), -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    slots[static_cast<std::size_t>(vertices[i])] = static_cast<std::int32_t>(i);
  }
  auto array = kernels::device::make_array<std::int32_t>(executor_, std::ssize(slots));
  executor_.upload(array.data, slots.data(), slots.size() * sizeof(std::int32_t));
  return array;
}

template <class Executor>
void BatchMaker<Executor>::fill_cache(const graph::Graph& host, const CacheContent& content,
                                      const base::Progress& progress) {
  graph_.rows.slots = nullptr;
  graph_.rows.cached = nullptr;
  graph_.topology.slots = nullptr;
  graph_.topology.cached = {};
  sampler_.reset();
  cache_memory_.clear();
  if (!content.rows.empty()) {
    cache_rows(content.rows, progress);
  }
  if (!content.lists.empty()) {
    cache_lists(host, content.lists);
  }
  start_sampler();
  use_ = kernels::device::make_array<std::int64_t>(executor_, 4);
  executor_.fill(use_.data, 0, 4 * sizeof(std::int64_t));
}

/// In chunks, so that progress can be told.
template <class Executor>
void BatchMaker<Executor>::cache_rows(const std::vector<graph::VertexId>& vertices,
                                      const base::Progress& progress) {
  constexpr std::int64_t chunk = std::int64_t{1} << 18;
  const auto wanted = on_device(vertices);
  const std::int64_t bytes = graph_.rows.row_bytes;
  const auto cached = kernels::device::make_array<std::byte>(executor_, wanted.count * bytes);
  for (std::int64_t begin = 0; begin < wanted.count; begin += chunk) {
    base::report(progress, "filling the cache", begin, wanted.count);
    kernels::device::gather_rows(executor_, graph_.rows, reads_, wanted.data + begin,
                                 std::min(chunk, wanted.count - begin), cached.data + begin * bytes);
  }
  const auto slots = slots_of(vertices);
  graph_.rows.cached = cached.data;
  graph_.rows.slots = slots.data;
  cache_memory_.insert(cache_memory_.end(), {cached.memory, slots.memory});
}

template <class Executor>
void BatchMaker<Executor>::cache_lists(const graph::Graph& host,
                                       const std::vector<graph::VertexId>& vertices) {
  namespace device = kernels::device;
  std::vector<std::int64_t> begins{0};
  for (const graph::VertexId vertex : vertices) {
    begins.push_back(begins.back() + host.degree(vertex));
  }
  const std::int64_t edges = begins.back();
  const auto wanted = on_device(vertices);
  const auto indptr = on_device(begins);
  device::Lists lists;
  lists.indptr = indptr.data;
  device::ListCopies copies;
  const auto room_for = [&]<class T>(const T*& cached, T*& copied) {
    const auto array = device::make_array<T>(executor_, edges);
    cached = copied = array.data;
    cache_memory_.push_back(array.memory);
  };
  if (graph_.topology.lists.narrow_indices != nullptr) {
    room_for(lists.narrow_indices, copies.narrow);
  } else {
    room_for(lists.indices, copies.wide);
  }
  if (graph_.topology.draws_by_weight()) {
    room_for(lists.columns, copies.columns);
  }
  device::copy_lists(executor_, graph_.topology, wanted.data, wanted.count, indptr.data, edges, copies);
  const auto slots = slots_of(vertices);
  graph_.topology.cached = lists;
  graph_.topology.slots = slots.data;
  cache_memory_.insert(cache_memory_.end(), {indptr.memory, slots.memory});
}

template <class Executor>
CacheUse BatchMaker<Executor>::take_cache_use() {
  std::int64_t use[4] = {0, 0, 0, 0};
  if (use_.count > 0) {
    executor_.download(use, use_.data, sizeof(use));
    executor_.fill(use_.data, 0, sizeof(use));
  }
  return {use[0], use[1], use[2], use[3]};
}

}  // namespace gnomon::runtime
