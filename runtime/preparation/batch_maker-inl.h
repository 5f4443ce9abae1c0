#pragma once

#include <ATen/ATen.h>

#include <memory>

#include "kernels/headroom.h"
#include "nn/feature_types.h"
#include "nn/sparse/sparse_block.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/preparation/batch_maker.h"
#include "runtime/reuse/pruned_sampler.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

/// A tensor of shape `sizes` on an array, whose memory it shares.
template <class T>
at::Tensor tensor_on(const kernels::device::Array<T>& array, at::IntArrayRef sizes, at::Device device,
                     at::ScalarType type) {
  return at::from_blob(
      array.data, sizes, [memory = array.memory](void*) {}, at::TensorOptions(type).device(device));
}

template <class Executor>
BatchMaker<Executor>::BatchMaker(Executor& executor, const DeviceGraph& graph,
                                 const std::vector<int>& fanouts, kernels::device::Reads reads,
                                 at::Device device, bool with_degrees)
    : executor_(executor),
      graph_(graph),
      reads_(reads),
      device_(device),
      with_degrees_(with_degrees),
      sampler_(executor, graph.topology, fanouts),
      fanouts_(fanouts) {
  if (graph.rows.slots != nullptr || graph.topology.slots != nullptr) {
    use_ = kernels::device::make_array<std::int64_t>(executor_, 8);
    executor_.fill(use_.data, 0, 8 * sizeof(std::int64_t));
  }
}

template <class Executor>
kernels::device::MiniBatch BatchMaker<Executor>::draw(const kernels::BatchKey& key,
                                                      std::span<const graph::VertexId> seeds) {
  return draw_by(sampler_, key, seeds);
}

/// The mini-batch, after counting the reads of its lists.
template <class Executor>
kernels::device::MiniBatch BatchMaker<Executor>::draw_by(kernels::device::Sampler<Executor>& sampler,
                                                         const kernels::BatchKey& key,
                                                         std::span<const graph::VertexId> seeds) {
  auto sampled = sampler.sample(key, seeds.data(), std::ssize(seeds), graph_.labels);
  count_lists(sampled);
  return sampled;
}

/// Adds to a pair of use_ if there are such slots.
template <class Executor>
void BatchMaker<Executor>::count(const std::int32_t* slots, const std::int64_t* vertices, std::int64_t count,
                                 std::int64_t which) {
  if (slots != nullptr) {
    auto* pair = use_.data + 2 * which;
    kernels::device::count_hits(executor_, slots, vertices, count, pair, pair + 1);
  }
}

template <class Executor>
void BatchMaker<Executor>::count_lists(const kernels::device::MiniBatch& batch) {
  for (const auto& block : batch.blocks) {
    count(graph_.topology.slots, batch.vertices.data, block.num_destinations, 1);
    count(graph_.own_list_slots, batch.vertices.data, block.num_destinations, 3);
  }
}

/// Undefined without degrees.
template <class Executor>
at::Tensor BatchMaker<Executor>::degrees_of(const kernels::device::MiniBatch& batch) {
  if (!with_degrees_) {
    return {};
  }
  auto degrees = kernels::device::make_array<float>(executor_, batch.num_vertices);
  kernels::device::gather_degrees(executor_, graph_.topology, batch.vertices.data, batch.num_vertices,
                                  degrees.data);
  return tensor_on(degrees, {batch.num_vertices}, device_, at::kFloat);
}

/// The rows of so many vertices, or of the first *known of them (device memory) if `known` is not null.
template <class Executor>
kernels::device::Array<std::byte> BatchMaker<Executor>::rows_of(const std::int64_t* vertices,
                                                                std::int64_t count,
                                                                const std::int64_t* known) {
  const auto rows = kernels::device::make_array<std::byte>(executor_, count * graph_.rows.row_bytes);
  kernels::device::gather_rows(executor_, graph_.rows, reads_, vertices, count, rows.data, known);
  return rows;
}

template <class Executor>
at::Tensor BatchMaker<Executor>::features_on(const Array<std::byte>& rows, std::int64_t count) {
  const auto type = nn::scalar_type(graph_.feature_type);
  return tensor_on(rows, {count, graph_.columns}, device_, type);
}

template <class Executor>
at::Tensor BatchMaker<Executor>::gather(const std::int64_t* vertices, std::int64_t count) {
  const auto rows = rows_of(vertices, count, nullptr);
  count_rows(vertices, count);
  return features_on(rows, count);
}

template <class Executor>
void BatchMaker<Executor>::count_rows(const std::int64_t* vertices, std::int64_t count) {
  this->count(graph_.rows.slots, vertices, count, 0);
  this->count(graph_.own_row_slots, vertices, count, 2);
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
  batch.tensors = {
      {}, tensor_on(sampled.labels, {sampled.num_seeds}, device_, at::kLong), degrees_of(sampled), {}};
  batch.size.vertices = rows;
  batch.size.bytes = (with_degrees_ ? 4 * rows : 0) + 8 * sampled.num_seeds;
  for (std::size_t hop = 0; hop < sampled.blocks.size(); ++hop) {
    const auto& block = sampled.blocks[hop];
    batch.tensors.blocks.push_back(std::make_shared<nn::SparseBlock>(
        block.num_sources, tensor_on(block.indptr, {block.num_destinations + 1}, device_, at::kLong),
        tensor_on(block.indices, {block.num_edges}, device_, at::kInt), max_in_degree(fanouts_[hop])));
    batch.size.edges += block.num_edges;
    batch.size.bytes += 8 * (block.num_destinations + 1) + 4 * block.num_edges;
  }
  batch.tensors.blocks = nn::grouped(std::move(batch.tensors.blocks));
  return batch;
}

template <class Executor>
DeviceBatch BatchMaker<Executor>::prepare(const kernels::BatchKey& key,
                                          std::span<const graph::VertexId> seeds) {
  sampler_.start(key, seeds.data(), std::ssize(seeds), graph_.labels);
  const std::int64_t expected = sampler_.expected_vertices();
  auto rows = rows_of(sampler_.vertices(), expected, sampler_.num_vertices());
  const auto sampled = sampler_.finish();
  const std::int64_t vertices = sampled.num_vertices;
  if (vertices > expected) {
    rows = rows_of(sampled.vertices.data, vertices, nullptr);
  }
  count_lists(sampled);
  count_rows(sampled.vertices.data, vertices);
  auto batch = without_features(sampled);
  batch.tensors.features = features_on(rows, vertices);
  batch.size.bytes += vertices * graph_.rows.row_bytes;
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
DeviceBatch BatchMaker<Executor>::prepare_pruned(const kernels::BatchKey& key,
                                                 std::span<const graph::VertexId> seeds,
                                                 const HotVertices& hot) {
  if (!upper_) {
    const auto hops = fanouts_.size() - 1;
    upper_.emplace(executor_, graph_.topology, std::vector<int>(fanouts_.begin(), fanouts_.end() - 1));
    bottom_.emplace(executor_, graph_.topology, std::vector<int>{fanouts_.back()},
                    static_cast<std::uint32_t>(hops));
  }
  const auto above = draw_by(*upper_, key, seeds);
  std::vector<std::int64_t> destinations;
  download(above.vertices, above.num_vertices, destinations);
  auto parts = split(destinations, hot);
  auto sampled = draw_by(*bottom_, key, parts.computed);
  auto bottom = std::make_shared<SplitBottom>();
  bottom->degrees = degrees_of(above);
  if (!parts.order.empty()) {
    const auto order = kernels::device::make_array<std::int64_t>(executor_, std::ssize(parts.order));
    executor_.upload(order.data, parts.order.data(), parts.order.size() * sizeof(std::int64_t));
    bottom->order = tensor_on(order, {order.count}, device_, at::kLong);
  }
  bottom->reused = std::move(parts.reused);
  bottom->feature_bytes = sampled.num_vertices * graph_.rows.row_bytes;
  auto blocks = above.blocks;
  blocks.push_back(sampled.blocks.front());
  sampled.blocks = std::move(blocks);
  auto batch = without_features(sampled);
  batch.tensors.labels = tensor_on(above.labels, {above.num_seeds}, device_, at::kLong);
  batch.tensors.features = gather(sampled.vertices.data, sampled.num_vertices);
  batch.size.bytes += bottom->feature_bytes;
  batch.bottom = std::move(bottom);
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
  data.feature_indptr.clear();
  data.feature_columns.resize(0);
  data.split = {};
  data.batch.num_seeds = sampled.num_seeds;
  download(sampled.vertices, sampled.num_vertices, data.batch.vertices);
  download(sampled.labels, sampled.num_seeds, data.labels);
  const auto degrees = degrees_of(sampled);
  kernels::resize_with_headroom(data.degrees,
                                with_degrees_ ? static_cast<std::size_t>(sampled.num_vertices) : 0);
  if (with_degrees_) {
    executor_.download(data.degrees.data(), degrees.template const_data_ptr<float>(), degrees.nbytes());
  }
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
CacheUse BatchMaker<Executor>::take_cache_use() {
  std::int64_t use[8] = {};
  if (use_.count > 0) {
    executor_.download(use, use_.data, sizeof(use));
    executor_.fill(use_.data, 0, sizeof(use));
  }
  const auto of_peers = [&](const std::int32_t* own, std::int64_t hits, std::int64_t own_hits) {
    return own == nullptr ? 0 : hits - own_hits;
  };
  return {use[0],
          use[1],
          use[2],
          use[3],
          of_peers(graph_.own_row_slots, use[1], use[5]),
          of_peers(graph_.own_list_slots, use[3], use[7])};
}

}  // namespace gnomon::runtime
