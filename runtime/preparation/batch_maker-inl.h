#pragma once

#include <ATen/ATen.h>

#include <cstring>
#include <memory>
#include <utility>

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
                                 at::Device device, bool with_degrees, std::pmr::memory_resource* staging)
    : executor_(executor),
      graph_(graph),
      reads_(reads),
      device_(device),
      with_degrees_(with_degrees),
      sampler_(executor, graph.topology, fanouts),
      fanouts_(fanouts),
      staged_seeds_(staging) {
  if (graph.rows.slots != nullptr || graph.topology.slots != nullptr) {
    hits_ = kernels::device::make_array<kernels::device::CacheHits>(executor_, 1);
    executor_.fill(hits_.data, 0, sizeof(kernels::device::CacheHits));
  }
}

/// The host has waited for the batch before, which read its seeds.
template <class Executor>
const graph::VertexId* BatchMaker<Executor>::staged(std::span<const graph::VertexId> seeds) {
  staged_seeds_.resize(seeds.size_bytes());
  if (!seeds.empty()) {
    std::memcpy(staged_seeds_.data(), seeds.data(), seeds.size_bytes());
  }
  return reinterpret_cast<const graph::VertexId*>(staged_seeds_.data());
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
  auto sampled = sampler.sample(key, staged(seeds), std::ssize(seeds), graph_.labels);
  count(list_reads(sampler, sampled));
  return sampled;
}

/// Of the sampler's last batch.
template <class Executor>
kernels::device::CacheReads BatchMaker<Executor>::list_reads(
    const kernels::device::Sampler<Executor>& sampler, const kernels::device::MiniBatch& batch) {
  kernels::device::CacheReads reads{.vertices = batch.vertices.data};
  if (graph_.topology.slots != nullptr) {
    for (const auto& block : batch.blocks) {
      lists_ += block.num_destinations;
    }
    reads.count = batch.blocks.back().num_destinations;
    reads.destinations = sampler.num_destinations();
    reads.num_hops = std::ssize(batch.blocks);
  }
  return reads;
}

/// `reads`, and one of each of the rows of its first `count` vertices, of which it has no more.
template <class Executor>
kernels::device::CacheReads BatchMaker<Executor>::with_rows(kernels::device::CacheReads reads,
                                                            std::int64_t count) {
  if (graph_.rows.slots != nullptr) {
    rows_ += count;
    reads.count = reads.num_rows = count;
  }
  return reads;
}

template <class Executor>
void BatchMaker<Executor>::count(const kernels::device::CacheReads& reads) {
  const kernels::device::CacheSlots slots{graph_.rows.slots, graph_.topology.slots, graph_.own_row_slots,
                                          graph_.own_list_slots};
  if (reads.count > 0) {
    kernels::device::count_hits(executor_, slots, reads, hits_.data);
  }
}

/// Undefined without degrees.
template <class Executor>
at::Tensor BatchMaker<Executor>::degrees_of(const kernels::device::MiniBatch& batch) {
  if (!with_degrees_) {
    return {};
  }
  auto degrees = kernels::device::make_array<float>(executor_, batch.num_vertices);
  auto topology = graph_.topology;
  if (graph_.whole_indptr != nullptr) {
    topology.lists.indptr = graph_.whole_indptr;
  }
  kernels::device::gather_degrees(executor_, topology, batch.vertices.data, batch.num_vertices, degrees.data);
  return tensor_on(degrees, {batch.num_vertices}, device_, at::kFloat);
}

/// Gathers the rows of `count` vertices, or of the first *known of them (device memory) if `known` is not
/// null.
template <class Executor>
kernels::device::Array<std::byte> BatchMaker<Executor>::rows_of(const std::int64_t* vertices,
                                                                std::int64_t count,
                                                                const std::int64_t* known) {
  auto rows = kernels::device::make_array<std::byte>(executor_, count * graph_.rows.row_bytes);
  gather_rows(executor_, graph_, reads_, vertices, count, rows.data, known);
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
  this->count(with_rows({.vertices = vertices}, count));
  return features_on(rows, count);
}

template <class Executor>
kernels::device::Rows BatchMaker<Executor>::lend_rows(const std::int64_t* vertices, std::int64_t count) {
  this->count(with_rows({.vertices = vertices}, count));
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
                                          std::span<const graph::VertexId> seeds, bool keeps_vertices) {
  sampler_.start(key, staged(seeds), std::ssize(seeds), graph_.labels);
  const std::int64_t expected = sampler_.expected_vertices();
  auto rows = rows_of(sampler_.vertices(), expected, sampler_.num_vertices());
  const auto sampled = sampler_.finish();
  const std::int64_t vertices = sampled.num_vertices;
  if (vertices > expected) {
    rows = rows_of(sampled.vertices.data, vertices, nullptr);
  }
  count(with_rows(list_reads(sampler_, sampled), vertices));
  auto batch = without_features(sampled);
  batch.tensors.features = features_on(rows, vertices);
  batch.size.bytes += vertices * graph_.rows.row_bytes;
  if (keeps_vertices) {
    batch.vertices = tensor_on(sampled.vertices, {vertices}, device_, at::kLong);
  }
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
  kernels::device::CacheHits hits;
  if (hits_.count > 0) {
    executor_.download(&hits, hits_.data, sizeof(hits));
    executor_.fill(hits_.data, 0, sizeof(hits));
  }
  const auto of_peers = [](const std::int32_t* own, std::int64_t all, std::int64_t own_hits) {
    return own == nullptr ? 0 : all - own_hits;
  };
  return {std::exchange(rows_, 0),
          hits.rows,
          std::exchange(lists_, 0),
          hits.lists,
          of_peers(graph_.own_row_slots, hits.rows, hits.own_rows),
          of_peers(graph_.own_list_slots, hits.lists, hits.own_lists)};
}

}  // namespace gnomon::runtime
