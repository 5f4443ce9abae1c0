#pragma once

#include <ATen/ATen.h>

#include <array>
#include <memory>
#include <utility>

#include "nn/models.h"
#include "plan/cached_rows.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/preparation/complete_rows-inl.h"
#include "runtime/preparation/preparation-inl.h"
#include "runtime/speed/bandwidth.h"
#include "runtime/streams/stream_device.h"
#include "runtime/streams/stream_work.h"

// To be included by sources that also declare the kernels of the driver's executor.

namespace gnomon::runtime {

template <Driver D>
StreamDevice<D>::StreamDevice(D driver, const plan::Job& job, const DeviceOptions& options,
                              base::Progress progress)
    : driver_(std::move(driver)),
      job_(job),
      options_(options),
      slots_(driver_.slot_memory()),
      stagings_{Staging{AlignedBytes(driver_.slot_memory())}, Staging{AlignedBytes(driver_.slot_memory())}},
      copy_stream_(driver_.make_stream(false)),
      prepare_stream_(driver_.make_stream(false)),
      train_stream_(prepare_stream_),
      copies_(driver_.hardware(copy_stream_)),
      hardware_(driver_.hardware(prepare_stream_)),
      preparation_(hardware_, job, std::move(progress), nn::reads_degrees(job.model)) {}

/// Waits for all work that reads memory freed afterwards, and removes the plan's memory limit.
template <Driver D>
StreamDevice<D>::~StreamDevice() {
  try {
    driver_.wait_for_all();
    driver_.limit_memory(0);
  } catch (const std::exception&) {
    // The device has failed, so nothing is read any more.
  }
}

/// Waits for all streams first, as models are created, saved and evaluated on other streams. Plans that train
/// beside preparation share a stream: memory that an allocator keeps for one is of no use on another.
template <Driver D>
void StreamDevice<D>::take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) {
  driver_.wait_for_all();
  if (plan.prepares_beside_training() && !beside_stream_) {
    beside_stream_ = driver_.make_stream(true);
  }
  train_stream_ = plan.prepares_beside_training() ? *beside_stream_ : prepare_stream_;
  plan_ = plan;
  driver_.limit_memory(max_bytes());
  with_memory("placing the graph", [&] { preparation_.take_plan(plan, graph); });
  graph_ = std::move(graph);
  rows_ = plan::leaves_out_cached_rows(plan) ? preparation_.rows() : kernels::device::Rows{};
}

/// The slot is returned to its pool when it has been read.
template <Driver D>
DeviceBatch StreamDevice<D>::copy(Slot slot) {
  DeviceBatch batch;
  const bool is_split = slot->split.is_used();
  const bool has_features = slot->features.size() > 0 && !is_split;
  const BatchSlab slab(*slot, {.degrees = nn::reads_degrees(job_.model),
                               .vertices = !has_features && !is_split,
                               .features = has_features});
  batch.size.vertices = std::ssize(slot->batch.vertices);
  batch.size.edges = slot->batch.num_edges();
  batch.size.bytes = slab.copied_bytes() +
                     (is_split ? slot->split.bytes() + static_cast<std::int64_t>(slot->features.size()) : 0);
  preparation_.note_batch(batch.size.bytes);
  const auto begin = driver_.mark(copy_stream_);
  with_memory("copying a mini-batch", [&] {
    auto executor = copies_.make_executor(1);
    const auto memory = executor.allocate(slab.bytes());
    start_copy(slab, memory, *slot);
    batch.tensors = slab.tensors(memory, tensor_device(), job_.fanouts);
    if (!has_features && !is_split) {
      batch.vertices = slab.vertices(memory, tensor_device());
    }
    if (is_split) {
      use_of_copies_.rows += std::ssize(slot->split.places);
      use_of_copies_.row_hits += std::ssize(slot->split.places) - std::ssize(slot->split.gathered);
      batch.tensors.features = complete_rows(copies_, *slot, rows_);
    }
  });
  DeviceBatch source;
  source.slot = std::move(slot);
  auto end = driver_.mark(copy_stream_);
  batch.ready = std::make_shared<StreamMark<D>>(copy_stream_, end);
  batch.work = std::make_unique<StreamWork<D>>(driver_, begin, std::move(end), std::move(source));
  return batch;
}

/// Both copies are from pinned memory.
template <Driver D>
void StreamDevice<D>::start_copy(const BatchSlab& slab, const std::shared_ptr<void>& memory,
                                 const BatchData& data) {
  auto& staging = stagings_[next_staging_];
  next_staging_ = (next_staging_ + 1) % stagings_.size();
  if (staging.read && !driver_.has_passed(*staging.read)) {
    driver_.wait_for(*staging.read);
  }
  staging.bytes.resize(slab.structure_bytes());
  slab.write_structure(staging.bytes.data());
  copies_.start([&] {
    auto executor = copies_.make_executor(1);
    auto* to = static_cast<std::byte*>(memory.get());
    executor.upload(to, staging.bytes.data(), slab.structure_bytes());
    if (slab.bytes() > slab.feature_offset()) {
      executor.upload(to + slab.feature_offset(), data.features.data(), data.features.size());
    }
  });
  staging.read = driver_.mark(copy_stream_);
}

/// What is started on the stream from now on begins when the batch is complete.
template <Driver D>
void StreamDevice<D>::order_after(const Stream& stream, const DeviceBatch& batch) {
  if (batch.ready) {
    static_cast<const StreamMark<D>&>(*batch.ready).order(driver_, stream);
  }
}

template <Driver D>
DeviceWorkPtr StreamDevice<D>::work_on(const Stream& stream, const std::function<void()>& act) {
  const auto begin = driver_.mark(stream);
  act();
  return std::make_unique<StreamWork<D>>(driver_, begin, driver_.mark(stream));
}

template <Driver D>
void StreamDevice<D>::complete_on(const Stream& stream, DeviceBatch& batch,
                                  const std::function<void()>& act) {
  const auto begin = driver_.mark(stream);
  act();
  auto end = driver_.mark(stream);
  batch.ready = std::make_shared<StreamMark<D>>(stream, end);
  batch.work = std::make_unique<StreamWork<D>>(driver_, begin, std::move(end));
}

template <Driver D>
DeviceBatch StreamDevice<D>::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  DeviceBatch batch;
  with_memory("preparing a mini-batch", [&] {
    complete_on(prepare_stream_, batch, [&] { batch = preparation_.prepare(key, seeds); });
  });
  return batch;
}

template <Driver D>
DeviceBatch StreamDevice<D>::prepare_pruned(const kernels::BatchKey& key,
                                            std::span<const graph::VertexId> seeds, const HotVertices& hot) {
  DeviceBatch batch;
  with_memory("preparing a mini-batch", [&] {
    complete_on(prepare_stream_, batch, [&] { batch = preparation_.prepare_pruned(key, seeds, hot); });
  });
  return batch;
}

template <Driver D>
std::vector<at::Tensor> StreamDevice<D>::take_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> taken;
  with_memory("copying embeddings", [&] {
    copies_.run([&] {
      for (const auto& tensor : tensors) {
        taken.push_back(tensor.to(tensor_device()));
      }
    });
  });
  return taken;
}

template <Driver D>
DeviceWorkPtr StreamDevice<D>::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                      BatchData& data) {
  DeviceWorkPtr work;
  with_memory("sampling a mini-batch",
              [&] { work = work_on(prepare_stream_, [&] { preparation_.sample(key, seeds, data); }); });
  return work;
}

template <Driver D>
void StreamDevice<D>::gather(DeviceBatch& batch) {
  with_memory("gathering features", [&] {
    order_after(prepare_stream_, batch);
    complete_on(prepare_stream_, batch, [&] { preparation_.gather(batch); });
  });
}

/// The first training step is waited for: the cache is then filled with the memory that is left.
template <Driver D>
DeviceWorkPtr StreamDevice<D>::train(DeviceBatch batch, const Learn& learn) {
  DeviceWorkPtr work;
  const auto step = [&] {
    if (plan_.fused) {
      order_after(prepare_stream_, batch);
      batch.tensors.stored =
          driver_.stored_features(preparation_.lend_rows(batch), graph_->graph.features, batch.vertices);
      // The lent rows are counted there.
      batch.ready = std::make_shared<StreamMark<D>>(prepare_stream_, driver_.mark(prepare_stream_));
    }
    order_after(train_stream_, batch);
    const auto begin = driver_.mark(train_stream_);
    driver_.hardware(train_stream_).start([&] { learn(batch.tensors); });
    work = std::make_unique<StreamWork<D>>(driver_, begin, driver_.mark(train_stream_), std::move(batch));
  };
  with_memory("training", step, repeats_training(plan_, job_));
  if (preparation_.is_cache_due()) {
    work->wait();
  }
  return work;
}

template <Driver D>
bool StreamDevice<D>::fill_due_caches() {
  if (!preparation_.is_cache_due()) {
    return false;
  }
  with_memory("filling the cache", [&] { preparation_.fill_due_cache(); });
  return true;
}

template <Driver D>
at::Tensor StreamDevice<D>::pull(const std::function<at::Tensor()>& gather) {
  return gather().to(tensor_device());
}

template <Driver D>
at::Tensor StreamDevice<D>::push(const at::Tensor& rows) {
  return rows.cpu();
}

template <Driver D>
CacheUse StreamDevice<D>::take_cache_use() {
  auto use = preparation_.take_cache_use();
  use += std::exchange(use_of_copies_, {});
  return use;
}

/// Measures several copies at a time to amortise launch and synchronisation.
template <Driver D>
double StreamDevice<D>::bandwidth(std::size_t bytes, int copies, const std::function<void()>& copy) {
  return best_bandwidth(static_cast<std::size_t>(copies) * bytes, [&] {
    return seconds_of(copies_, [&] {
      for (int i = 0; i < copies; ++i) {
        copy();
      }
    });
  });
}

template <Driver D>
DeviceFacts StreamDevice<D>::measure() {
  const std::size_t bytes = driver_.measured_bytes();
  auto facts = driver_.facts();
  const MemoryUse memory = hardware_.memory_use();  // before the measurements allocate any
  facts.memory_bytes = static_cast<double>(memory.usable_bytes);
  facts.peak_bytes = static_cast<double>(memory.peak_bytes);
  facts.link_saturation_share = preparation_.measure_link_saturation(static_cast<std::int64_t>(bytes));

  auto executor = copies_.make_executor(1);
  AlignedBytes host(driver_.slot_memory());
  host.resize(bytes);
  const auto first = executor.allocate(bytes);
  const auto second = executor.allocate(bytes);
  facts.link_bandwidth_bytes_per_s =
      bandwidth(bytes, 2, [&] { executor.upload(first.get(), host.data(), bytes); });
  // A copy reads and writes each byte.
  facts.memory_bandwidth_bytes_per_s =
      2 * bandwidth(bytes, 32, [&] { driver_.copy_within(copy_stream_, second.get(), first.get(), bytes); });
  return facts;
}

}  // namespace gnomon::runtime
