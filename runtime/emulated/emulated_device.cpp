#include "runtime/emulated/emulated_device.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "nn/sparse/stored_features.h"
#include "plan/cached_rows.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/cache/cache_parts.h"
#include "runtime/cache/entry_costs.h"
#include "runtime/emulated/sharded_cache.h"
#include "runtime/emulated/tensor_count.h"
#include "runtime/preparation/complete_rows-inl.h"
#include "runtime/preparation/device_room.h"
#include "runtime/preparation/preparation-inl.h"
#include "runtime/speed/bandwidth.h"
#include "schedule/run_epoch.h"

namespace gnomon::runtime::emulated {

EmulatedDevice::EmulatedDevice(const plan::Job& job, const DeviceOptions& options, base::Progress progress,
                               std::unique_ptr<DeviceClock> clock)
    : job_(job),
      options_(options),
      clock_(std::move(clock)),
      arena_(std::make_shared<DeviceArena>(options.max_bytes)),
      link_(options.link, *clock_),
      exchange_link_({.bandwidth_bytes_per_s = options.peers.bandwidth_bytes_per_s,
                      .round_trip_s = options.link.round_trip_s},
                     *clock_),
      hardware_(arena_, link_, *clock_),
      copies_(arena_, link_, *clock_),
      preparation_(hardware_, job, std::move(progress)),
      macro_graphs_(copies_, arena_, link_) {}

void EmulatedDevice::with_memory(const std::string& doing, const std::function<void()>& act, bool repeats) {
  const auto once = [&] {
    try {
      act();
    } catch (const ArenaIsFull& full) {
      throw OutOfDeviceMemory("device memory", "does not suffice for " + doing + ": " + full.what() + " " +
                                                   what_lowers_memory(plan_));
    }
  };
  with_room(once, [&] { return repeats && preparation_.shrink_cache(); });
}

void EmulatedDevice::take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) {
  plan_ = plan;
  if (group_) {
    group_->forget(number_);
  }
  arena_->limit(smaller_limit(plan.device_memory_bytes, options_.max_bytes));
  hardware_.use_threads(plan.device_threads);
  macro_graphs_.clear();
  with_memory("placing the graph", [&] { preparation_.take_plan(plan, graph); });
  graph_ = std::move(graph);
  rows_ = plan::leaves_out_cached_rows(plan) ? preparation_.rows() : kernels::device::Rows{};
}

at::Tensor EmulatedDevice::copied(const at::Tensor& tensor) const {
  const auto memory = arena_->allocate(tensor.nbytes());
  if (tensor.nbytes() > 0) {
    std::memcpy(memory.get(), tensor.const_data_ptr(), tensor.nbytes());
  }
  return at::from_blob(
      memory.get(), tensor.sizes(), [memory](void*) {}, tensor.options());
}

at::Tensor EmulatedDevice::completed(const BatchData& data) {
  use_of_copies_.rows += std::ssize(data.split.places);
  use_of_copies_.row_hits += std::ssize(data.split.places) - std::ssize(data.split.gathered);
  return complete_rows(copies_, data, rows_);
}

DeviceBatch EmulatedDevice::copy(Slot slot) {
  DeviceBatch batch;
  const bool is_split = slot->split.is_used();
  const bool lacks_features = slot->features.size() == 0 && !is_split;
  batch.size.vertices = std::ssize(slot->batch.vertices);
  batch.size.edges = slot->batch.num_edges();
  batch.size.bytes = slot->bytes() - (lacks_features ? 0 : 8 * batch.size.vertices);
  preparation_.note_batch(batch.size.bytes);
  const std::int64_t apart =
      is_split ? slot->split.bytes() + static_cast<std::int64_t>(slot->features.size()) : 0;
  with_memory("copying a mini-batch", [&] {
    link_.copy(batch.size.bytes - apart, [&] {
      auto tensors = view_of(*slot);
      tensors.labels = copied(tensors.labels);
      tensors.degrees = copied(tensors.degrees);
      for (auto& block : tensors.blocks) {
        block = std::make_shared<nn::SparseBlock>(block->num_sources(), copied(block->indptr()),
                                                  copied(block->indices()));
      }
      if (lacks_features) {
        batch.vertices = copied(ids_of(*slot));
      } else if (!is_split) {
        tensors.features = copied(tensors.features);
      }
      batch.tensors = std::move(tensors);
    });
    if (is_split) {
      batch.tensors.features = completed(*slot);
    }
  });
  return batch;
}

DeviceBatch EmulatedDevice::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  DeviceBatch batch;
  with_memory("preparing a mini-batch", [&] { batch = preparation_.prepare(key, seeds); });
  return batch;
}

DeviceBatch EmulatedDevice::prepare_pruned(const kernels::BatchKey& key,
                                           std::span<const graph::VertexId> seeds, const HotVertices& hot) {
  DeviceBatch batch;
  with_memory("preparing a mini-batch", [&] { batch = preparation_.prepare_pruned(key, seeds, hot); });
  return batch;
}

std::vector<at::Tensor> EmulatedDevice::take_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> taken;
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) {
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  with_memory("copying embeddings", [&] {
    link_.copy(bytes, [&] {
      for (const auto& tensor : tensors) {
        taken.push_back(copied(tensor));
      }
    });
  });
  return taken;
}

void EmulatedDevice::copy_graph(std::shared_ptr<const PlacedGraph> graph,
                                std::span<const std::uint8_t> wanted_rows) {
  preparation_.drop_graph_unless(macro_graphs_.last());
  with_memory("copying a macro-batch", [&] { macro_graphs_.copy(std::move(graph), wanted_rows); });
}

void EmulatedDevice::open_graph(std::shared_ptr<const PlacedGraph> graph) {
  with_memory("opening a macro-batch",
              [&] { preparation_.open_graph(graph, macro_graphs_.take(graph.get())); });
  graph_ = std::move(graph);
}

DeviceWorkPtr EmulatedDevice::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                     BatchData& data) {
  with_memory("sampling a mini-batch", [&] { preparation_.sample(key, seeds, data); });
  return {};
}

void EmulatedDevice::gather(DeviceBatch& batch) {
  with_memory("gathering features", [&] { preparation_.gather(batch); });
}

/// Waits for the link as long as a kernel that reads each row once. The host's kernels then read the rows in
/// place, in the order of the host device.
void EmulatedDevice::lend_features(DeviceBatch& batch) {
  LinkReads reads;
  const auto rows = preparation_.lend_rows(batch, [&](const kernels::device::Rows& lent) {
    Coalescer coalescer = hardware_.coalescer();
    read_rows(lent, reads_of(plan_), batch.vertices.const_data_ptr<std::int64_t>(), batch.size.vertices,
              coalescer);
    reads = coalescer.finish();
  });
  hardware_.wait_for(reads);
  auto features = graph_->graph.features;
  features.data = rows.all;
  batch.tensors.stored = nn::stored_features(features, batch.vertices);
}

DeviceWorkPtr EmulatedDevice::train(DeviceBatch batch, const Learn& learn) {
  const auto step = [&] {
    if (plan_.fused) {
      lend_features(batch);
    }
    const TensorCount count(arena_);
    learn(batch.tensors);
  };
  with_memory("training", step, repeats_training(plan_, job_));
  return {};
}

bool EmulatedDevice::fill_due_caches() {
  if (!preparation_.is_cache_due()) {
    return false;
  }
  with_memory("filling the cache", [&] { fill_cache(); });
  return true;
}

/// Linked devices that share a cache fill it together, once the first step of each has shown how much memory
/// is left: the last one fills the cache for all of them.
void EmulatedDevice::fill_cache() {
  if (!group_ || !shares_cache(plan_)) {
    preparation_.fill_due_cache();
    return;
  }
  const auto devices = group_->arrive(number_, plan_);
  if (devices.size() == 1) {
    preparation_.fill_due_cache();
  } else if (!devices.empty()) {
    fill_shared_cache(devices);
  }
}

/// The first device counts visits and measures, if the cache's policy requires it.
void EmulatedDevice::fill_shared_cache(const std::vector<EmulatedDevice*>& devices) {
  std::vector<std::int64_t> capacities;
  std::vector<ShardedCache::Member> members;
  for (auto* device : devices) {
    capacities.push_back(device->preparation_.cache_room());
    members.push_back({device->arena_, &device->link_});
  }
  const auto& placed = *devices.front()->graph_;
  const auto content = devices.front()->preparation_.wanted(
      std::accumulate(capacities.begin(), capacities.end(), std::int64_t{0}), capacities.front());
  const auto parts =
      distribute(content, placed.graph, entry_sizes(placed.graph.features, placed.topology), capacities);
  const auto cache = std::make_shared<const ShardedCache>(placed, parts, members);
  for (std::size_t number = 0; number < devices.size(); ++number) {
    auto& device = *devices[number];
    device.preparation_.place_cache([&](DeviceGraph& graph) {
      ShardedCache::place(cache, number, members[number], device.hardware_, graph);
    });
  }
}

void EmulatedDevice::join(Device& first) {
  if (&first == this) {
    group_ = std::make_shared<PeerGroup>(options_.peers, options_.link);
  } else {
    group_ = dynamic_cast<EmulatedDevice&>(first).group_;
  }
  number_ = group_->join(*this);
  if (auto* link = group_->link_of(number_)) {
    hardware_.use_peer_link(*link);
  }
}

std::function<void()> EmulatedDevice::begin_exchange(std::int64_t bytes) {
  const bool is_linked = group_ && group_->links_all(plan_);
  return (is_linked ? exchange_link_ : link_).begin_exchange(bytes);
}

void EmulatedDevice::hold_model(std::int64_t bytes) {
  model_.reset();
  with_memory("the model", [&] { model_ = reserve_in(arena_, static_cast<std::size_t>(bytes)); });
}

/// The gathered rows emulate the copy on the device: they count as its memory and occupy the link.
at::Tensor EmulatedDevice::pull(const std::function<at::Tensor()>& gather) {
  auto rows = gather();
  link_.copy(static_cast<std::int64_t>(rows.nbytes()), [] {});
  return rows;
}

at::Tensor EmulatedDevice::push(const at::Tensor& rows) {
  link_.copy(
      static_cast<std::int64_t>(rows.nbytes()), [] {}, SharedLink::Direction::to_host);
  return rows;
}

CacheUse EmulatedDevice::take_cache_use() {
  auto use = preparation_.take_cache_use();
  use += std::exchange(use_of_copies_, {});
  return use;
}

DeviceFacts EmulatedDevice::measure() {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  DeviceFacts facts;
  facts.name = "emulated" + (options_.name.empty() ? "" : " " + options_.name);
  facts.memory_bytes = static_cast<double>(arena_->limit_bytes());
  facts.peak_bytes = static_cast<double>(arena_->peak_bytes());
  const auto free_bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(64, arena_->limit_bytes() - arena_->used_bytes()));
  const std::size_t bytes = std::min(most_bytes, free_bytes / 2);
  auto executor = hardware_.make_executor(1);
  with_memory("measuring the link", [&] {
    const std::vector<std::byte> host(bytes);
    const auto device = executor.allocate(bytes);
    facts.link_bandwidth_bytes_per_s = best_bandwidth(bytes, [&] {
      return seconds_of(hardware_, [&] { executor.upload(device.get(), host.data(), bytes); });
    });
  });
  return facts;
}

}  // namespace gnomon::runtime::emulated
