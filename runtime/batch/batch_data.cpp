#include "runtime/batch/batch_data.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gather.h"
#include "kernels/headroom.h"

namespace gnomon::runtime {

namespace {

/// The capacity for `size` bytes of `memory`. Pages of the default memory cost nothing until they are used;
/// other memory, which is pinned, takes all of its bytes, and mini-batches differ by a few percent.
std::size_t capacity_for(std::size_t size, const std::pmr::memory_resource* memory) {
  return memory == std::pmr::new_delete_resource() ? kernels::with_headroom(size) : size + size / 8;
}

}  // namespace

AlignedBytes& AlignedBytes::operator=(const AlignedBytes& other) {
  if (this != &other) {
    resize(other.size_);
    if (size_ > 0) {
      std::memcpy(data(), other.data(), size_);
    }
  }
  return *this;
}

void AlignedBytes::resize(std::size_t size) {
  auto& release = bytes_.get_deleter();
  if (size > release.capacity) {
    const auto capacity = capacity_for(size, release.memory);
    bytes_.reset();
    release.capacity = 0;
    bytes_.reset(static_cast<std::byte*>(release.memory->allocate(capacity, alignment)));
    release.capacity = capacity;
  }
  size_ = size;
}

std::int64_t BatchData::bytes() const {
  auto total = features.size() + feature_indptr.size() * sizeof(std::int64_t) + feature_columns.size() +
               static_cast<std::size_t>(split.bytes()) + labels.size() * sizeof(std::int64_t) +
               degrees.size() * sizeof(float) + batch.vertices.size() * sizeof(std::int64_t);
  for (const auto& block : batch.blocks) {
    total += block.indptr.size() * sizeof(std::int64_t) + block.indices.size() * sizeof(std::int32_t);
  }
  return static_cast<std::int64_t>(total);
}

void copy_batch(const BatchData& from, BatchData& to) {
  using kernels::copy_with_headroom;
  to.batch.num_seeds = from.batch.num_seeds;
  copy_with_headroom(from.batch.vertices, to.batch.vertices);
  to.batch.blocks.resize(from.batch.blocks.size());
  for (std::size_t hop = 0; hop < from.batch.blocks.size(); ++hop) {
    const auto& block = from.batch.blocks[hop];
    auto& copy = to.batch.blocks[hop];
    copy.num_destinations = block.num_destinations;
    copy.num_sources = block.num_sources;
    copy_with_headroom(block.indptr, copy.indptr);
    copy_with_headroom(block.indices, copy.indices);
    copy_with_headroom(block.edge_ids, copy.edge_ids);
  }
  to.features = from.features;
  copy_with_headroom(from.feature_indptr, to.feature_indptr);
  to.feature_columns = from.feature_columns;
  copy_with_headroom(from.split.gathered, to.split.gathered);
  copy_with_headroom(from.split.places, to.split.places);
  copy_with_headroom(from.split.slots, to.split.slots);
  to.feature_type = from.feature_type;
  to.columns = from.columns;
  copy_with_headroom(from.labels, to.labels);
  copy_with_headroom(from.degrees, to.degrees);
}

namespace {

/// Calls act(vertices, index of the first) on each member of the team for its chunk of the vertices.
template <class Act>
void share_vertices(base::Team& team, std::span<const graph::VertexId> vertices, const Act& act) {
  team.step([&](int member) {
    const auto [begin, end] = base::chunk_of(std::ssize(vertices), member, team.size());
    act(vertices.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), begin);
  });
  team.park();
}

void sample_into(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                 std::span<const graph::VertexId> seeds, BatchData& data) {
  sampler.sample(key, seeds, data.batch);
  data.feature_type = graph.features.type;
  data.columns = graph.features.columns;
  data.features.resize(0);
  data.feature_indptr.clear();
  data.feature_columns.resize(0);
  data.split.places.clear();
  data.split.slots.clear();
  data.split.gathered.clear();
  kernels::resize_with_headroom(data.degrees, data.batch.vertices.size());
  kernels::resize_with_headroom(data.labels, seeds.size());
  kernels::cpu::gather_labels(graph.labels, seeds, data.labels.data());
}

/// Resizes the buffers for the features of the batch's vertices, and sets the row pointers of sparse ones.
void make_room_for_features(const graph::Features& features, BatchData& data) {
  if (!features.is_sparse()) {
    data.features.resize(data.batch.vertices.size() * static_cast<std::size_t>(features.row_bytes()));
    return;
  }
  kernels::resize_with_headroom(data.feature_indptr, data.batch.vertices.size() + 1);
  kernels::cpu::gather_row_pointers(features, data.batch.vertices, data.feature_indptr.data());
  const auto entries = static_cast<std::size_t>(data.feature_indptr.back());
  data.feature_columns.resize(entries * sizeof(std::int32_t));
  data.features.resize(
      features.data == nullptr ? 0 : entries * static_cast<std::size_t>(bytes_of(features.type)));
}

/// Gathers the features of vertices; the first one is at position `first` in the batch.
void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices,
                 std::int64_t first, BatchData& data) {
  if (!features.is_sparse()) {
    kernels::cpu::gather_rows(features, vertices, data.features.data() + first * features.row_bytes());
    return;
  }
  const std::int64_t entry = data.feature_indptr[static_cast<std::size_t>(first)];
  auto* columns = reinterpret_cast<std::int32_t*>(data.feature_columns.data());
  kernels::cpu::gather_entries(features, vertices, columns + entry,
                               data.features.data() + entry * bytes_of(features.type));
}

/// Splits the batch's rows into cached and gathered ones.
void split_rows(std::span<const std::int32_t> cache_slots, BatchData& data) {
  const auto& vertices = data.batch.vertices;
  auto& split = data.split;
  const auto slot_of = [&](graph::VertexId vertex) { return cache_slots[static_cast<std::size_t>(vertex)]; };
  const auto gathered = std::count_if(vertices.begin(), vertices.end(),
                                      [&](graph::VertexId vertex) { return slot_of(vertex) < 0; });
  kernels::resize_with_headroom(split.gathered, static_cast<std::size_t>(gathered));
  kernels::resize_with_headroom(split.places, vertices.size());
  kernels::resize_with_headroom(split.slots, vertices.size());
  std::int64_t next_gathered = 0;
  std::int64_t next_cached = gathered;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto slot = slot_of(vertices[i]);
    const auto place = slot < 0 ? next_gathered++ : next_cached++;
    split.places[i] = place;
    split.slots[static_cast<std::size_t>(place)] = slot;
    if (slot < 0) {
      split.gathered[static_cast<std::size_t>(place)] = vertices[i];
    }
  }
}

}  // namespace

void prepare_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                   std::span<const graph::VertexId> seeds, BatchData& data,
                   std::span<const std::int32_t> cache_slots) {
  if (!cache_slots.empty()) {
    sample_batch(graph, sampler, key, seeds, data);
    split_rows(cache_slots, data);
    const std::int64_t row_bytes = graph.features.row_bytes();
    data.features.resize(data.split.gathered.size() * static_cast<std::size_t>(row_bytes));
    share_vertices(sampler.team(), data.split.gathered,
                   [&](std::span<const graph::VertexId> own, std::int64_t first) {
                     gather_rows(graph.features, own, first, data);
                   });
    return;
  }
  sample_into(graph, sampler, key, seeds, data);
  make_room_for_features(graph.features, data);
  share_vertices(sampler.team(), data.batch.vertices,
                 [&](std::span<const graph::VertexId> own, std::int64_t first) {
                   gather_rows(graph.features, own, first, data);
                   kernels::cpu::gather_degrees(graph, own, data.degrees.data() + first);
                 });
}

void sample_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                  std::span<const graph::VertexId> seeds, BatchData& data) {
  sample_into(graph, sampler, key, seeds, data);
  share_vertices(sampler.team(), data.batch.vertices,
                 [&](std::span<const graph::VertexId> own, std::int64_t first) {
                   kernels::cpu::gather_degrees(graph, own, data.degrees.data() + first);
                 });
}

void gather_features(const graph::Graph& graph, base::Team& team, BatchData& data) {
  make_room_for_features(graph.features, data);
  share_vertices(team, data.batch.vertices, [&](std::span<const graph::VertexId> own, std::int64_t first) {
    gather_rows(graph.features, own, first, data);
  });
}

}  // namespace gnomon::runtime
