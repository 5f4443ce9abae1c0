#pragma once

#include <algorithm>
#include <utility>

#include "graph/epoch_order.h"
#include "plan/cached_rows.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/cache/fill_cache-inl.h"
#include "runtime/cache/preferred_rows.h"
#include "runtime/cache/presampling-inl.h"
#include "runtime/preparation/batch_maker-inl.h"
#include "runtime/preparation/device_graph-inl.h"
#include "runtime/preparation/preparation.h"
#include "runtime/speed/link-inl.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

inline kernels::device::Reads reads_of(const plan::Plan& plan) {
  return plan.unaligned_reads ? kernels::device::Reads::straight : kernels::device::Reads::shifted;
}

template <class H>
Preparation<H>::Preparation(H& hardware, plan::Job job, base::Progress progress, bool with_degrees)
    : hardware_(hardware),
      job_(std::move(job)),
      progress_(std::move(progress)),
      with_degrees_(with_degrees) {}

template <class H>
void Preparation<H>::take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) {
  const std::lock_guard lock(mutex_);
  const bool moves = graph != placed_ || plan.topology != plan_.topology || plan.features != plan_.features;
  const bool new_cache = moves || !(plan.cache == plan_.cache) || reads_cache(plan) != reads_cache(plan_) ||
                         plan::prefers_cached(plan) != plan::prefers_cached(plan_) ||
                         plan.device_memory_bytes != plan_.device_memory_bytes ||
                         (reads_cache(plan) && may_take_more(plan, plan_));
  const bool new_kernels =
      preparing_share(plan) != preparing_share(plan_) || plan.unaligned_reads != plan_.unaligned_reads;
  plan_ = plan;
  if (new_cache || new_kernels) {
    maker_.reset();
  }
  if (new_kernels) {
    executor_.reset();
  }
  if (moves) {
    graph_.reset();  // before the host memory that it maps
    placed_ = std::move(graph);
  }
  if (new_cache) {
    is_preferred_due_ = reads_cache(plan_) && plan::prefers_cached(plan_);
    is_cache_due_ = reads_cache(plan_) && !plan::prefers_cached(plan_);
    filled_bytes_.reset();
    if (graph_) {
      drop_cache(*graph_);
    }
    hardware_.release_memory();  // else a part of the old cache's block may keep the rest from large data
  }
  if (reads_graph(plan_)) {
    hardware_.run([&] { open(); });
  }
}

template <class H>
void Preparation<H>::open_graph(std::shared_ptr<const PlacedGraph> graph,
                                std::unique_ptr<DeviceGraph> on_device) {
  const std::lock_guard lock(mutex_);
  maker_.reset();  // reads the graph before
  graph_ = std::move(on_device);
  placed_ = std::move(graph);
  hardware_.run([&] { open(); });
}

template <class H>
void Preparation<H>::drop_graph_unless(const PlacedGraph* kept) {
  const std::lock_guard lock(mutex_);
  if (placed_.get() != kept) {
    maker_.reset();
    graph_.reset();
  }
}

template <class H>
void Preparation<H>::open() {
  if (!executor_) {
    executor_.emplace(hardware_.make_executor(preparing_share(plan_)));
  }
  if (!graph_) {
    const auto map = [&](const void* data, std::size_t bytes) { return hardware_.map(data, bytes); };
    graph_ = std::make_unique<DeviceGraph>(place_on_device(*executor_, map, *placed_, plan_));
    if (graph_->copied_bytes > 0) {
      base::report(progress_, "the graph cannot be mapped in place: pinned copies of its bytes",
                   graph_->copied_bytes, graph_->copied_bytes);
    }
  }
  if (is_preferred_due_) {
    hold_preferred_rows();
  }
  if (!maker_) {
    maker_ = std::make_unique<BatchMaker<Executor>>(*executor_, *graph_, job_.fanouts, reads_of(plan_),
                                                    hardware_.tensor_device(), with_degrees_,
                                                    hardware_.staging_memory());
  }
}

template <class H>
void Preparation<H>::hold_preferred_rows() {
  const CacheContent content{preferred_rows(placed_->graph, plan_), {}};
  fill_cache(*executor_, *graph_, placed_->graph, content, reads_of(plan_), progress_);
  is_preferred_due_ = false;
}

template <class H>
DeviceBatch Preparation<H>::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  const std::lock_guard lock(mutex_);
  DeviceBatch batch;
  hardware_.start([&] {
    open();
    batch = plan_.fused ? maker_->prepare_sample(key, seeds)
                        : maker_->prepare(key, seeds, plan_.embeddings.reuse == plan::Reuse::halo);
  });
  note_batch(batch.size.bytes);
  return batch;
}

template <class H>
DeviceBatch Preparation<H>::prepare_pruned(const kernels::BatchKey& key,
                                           std::span<const graph::VertexId> seeds, const HotVertices& hot) {
  const std::lock_guard lock(mutex_);
  DeviceBatch batch;
  hardware_.start([&] {
    open();
    batch = maker_->prepare_pruned(key, seeds, hot);
  });
  note_batch(batch.size.bytes);
  return batch;
}

template <class H>
void Preparation<H>::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                            BatchData& data) {
  const std::lock_guard lock(mutex_);
  hardware_.run([&] {
    open();
    maker_->sample(key, seeds, data);
  });
}

template <class H>
void Preparation<H>::gather(DeviceBatch& batch) {
  const std::lock_guard lock(mutex_);
  hardware_.start([&] {
    open();
    batch.tensors.features =
        maker_->gather(batch.vertices.template const_data_ptr<std::int64_t>(), batch.size.vertices);
  });
  batch.vertices.reset();
}

template <class H>
kernels::device::Rows Preparation<H>::rows() {
  const std::lock_guard lock(mutex_);
  hardware_.run([&] { open(); });
  return graph_->rows;
}

template <class H>
kernels::device::Rows Preparation<H>::lend_rows(
    const DeviceBatch& batch, const std::function<void(const kernels::device::Rows&)>& visit) {
  const std::lock_guard lock(mutex_);
  kernels::device::Rows rows;
  hardware_.start([&] {
    open();
    rows = maker_->lend_rows(batch.vertices.template const_data_ptr<std::int64_t>(), batch.size.vertices);
  });
  if (visit) {
    visit(rows);
  }
  return rows;
}

template <class H>
CacheUse Preparation<H>::take_cache_use() {
  const std::lock_guard lock(mutex_);
  CacheUse use;
  if (maker_) {
    hardware_.run([&] { use = maker_->take_cache_use(); });
  }
  return use;
}

template <class H>
void Preparation<H>::fill_due_cache() {
  const std::lock_guard lock(mutex_);
  if (!is_cache_due_) {
    return;
  }
  is_cache_due_ = false;
  hardware_.run([&] {
    open();
    const auto visits = visits_of_plan();
    if (!filled_bytes_) {
      filled_bytes_ = std::max<std::int64_t>(0, cache_bytes());
      shrinks_by_ = std::max(*filled_bytes_ / 10 + 1, working_bytes_ / 8);
    }
    if (*filled_bytes_ > 0) {
      fill(content_of(visits, *filled_bytes_, *filled_bytes_), progress_);
    }
  });
}

template <class H>
bool Preparation<H>::shrink_cache() {
  const std::lock_guard lock(mutex_);
  if (filled_bytes_.value_or(0) == 0 || shares_cache(plan_) || plan_.fused) {
    return false;
  }
  filled_bytes_ = std::max<std::int64_t>(0, *filled_bytes_ - shrinks_by_);
  is_cache_due_ = true;
  hardware_.run([&] {
    maker_.reset();  // its sampler reads the cache
    drop_cache(*graph_);
    hardware_.release_memory();
  });
  return true;
}

/// Empty if the cache's policy does not use visits.
template <class H>
Visits Preparation<H>::visits_of_plan() {
  return needs_visits(plan_.cache.policy)
             ? presample(*executor_, maker_->sampler(), graph_->topology.num_vertices, placed_->graph.train,
                         job_, progress_)
             : Visits{};
}

template <class H>
CacheContent Preparation<H>::content_of(const Visits& visits, std::int64_t bytes, std::int64_t own_bytes) {
  const auto costs =
      with_savings(entry_sizes(placed_->graph.features, placed_->topology), placed_->graph, plan_.cache,
                   own_bytes, job_.seed, [&](const CacheContent& content) { return prepared_with(content); });
  return choose_content(placed_->graph, plan_.cache, visits, costs, bytes, job_.seed);
}

template <class H>
std::int64_t Preparation<H>::cache_room() {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0;
  hardware_.run([&] {
    open();
    bytes = std::max<std::int64_t>(0, cache_bytes());
  });
  return bytes;
}

template <class H>
CacheContent Preparation<H>::wanted(std::int64_t bytes, std::int64_t own_bytes) {
  const std::lock_guard lock(mutex_);
  CacheContent content;
  hardware_.run([&] {
    open();
    content = content_of(visits_of_plan(), bytes, own_bytes);
    maker_.reset();
    drop_cache(*graph_);
  });
  return content;
}

template <class H>
void Preparation<H>::place_cache(const std::function<void(DeviceGraph&)>& place) {
  const std::lock_guard lock(mutex_);
  is_cache_due_ = false;
  hardware_.run([&] {
    open();
    maker_.reset();  // its sampler reads the old caches
    drop_cache(*graph_);
    place(*graph_);
    open();
  });
}

template <class H>
void Preparation<H>::note_batch(std::int64_t bytes) {
  std::int64_t largest = largest_batch_bytes_;
  while (bytes > largest && !largest_batch_bytes_.compare_exchange_weak(largest, bytes)) {
  }
}

/// Bytes of the graph's data that the plan keeps in the device's memory as a whole.
template <class H>
std::int64_t Preparation<H>::resident_bytes() const {
  const auto& graph = placed_->graph;
  const std::int64_t lists =
      plan_.topology == plan::Home::device ? kernels::cpu::resident_bytes(graph, draws_of(graph, job_)) : 0;
  return lists + (plan_.features == plan::Home::device ? graph.features.bytes() : 0);
}

/// The plan's share of the memory left by the placed data, by training and by the mini-batches that wait
/// meanwhile. A share of the last two stays free (cache_reserve), as the allocator's blocks do not fit
/// requests exactly, those of one stream do not serve another, and mini-batches differ in size. A step that
/// will be recorded needs its memory once more.
template <class H>
std::int64_t Preparation<H>::cache_bytes() {
  const MemoryUse memory = hardware_.memory_use();
  const std::int64_t tables = shares_cache(plan_) ? 4 : 2;  // slots of rows and lists, and of the own ones
  const std::int64_t slot_tables = tables * 4 * graph_->topology.num_vertices;
  const std::int64_t resident = resident_bytes();
  const std::int64_t training = std::max<std::int64_t>(0, memory.peak_bytes - resident);
  const std::int64_t waiting = plan_.batches_ahead_on_device() * largest_batch_bytes_;
  working_bytes_ = (plan_.graphs ? 2 : 1) * training + waiting;
  const std::int64_t left =
      memory.usable_bytes - resident - slot_tables -
      static_cast<std::int64_t>((1 + plan::cache_reserve) * static_cast<double>(working_bytes_));
  return static_cast<std::int64_t>(plan_.cache.budget * static_cast<double>(left));
}

/// Creates a new maker, as the old one's sampler reads the old caches.
template <class H>
void Preparation<H>::fill(const CacheContent& content, const base::Progress& progress) {
  maker_.reset();
  fill_cache(*executor_, *graph_, placed_->graph, content, reads_of(plan_), progress);
  open();
}

template <class H>
PreparedWith Preparation<H>::prepared_with(const CacheContent& content) {
  fill(content, {});
  const auto order = graph::epoch_order(placed_->graph.train, job_.seed, 0);
  prepare_some(order);  // warms up
  (void)maker_->take_cache_use();
  const double seconds = seconds_of(hardware_, [&] { prepare_some(order); });
  return {seconds, maker_->take_cache_use()};
}

/// Prepares the first mini-batches of an epoch in that order.
template <class H>
void Preparation<H>::prepare_some(std::span<const graph::VertexId> order) {
  constexpr std::int64_t max_batches = 8;
  const std::int64_t batches = std::min(max_batches, graph::num_batches(std::ssize(order), job_.batch_size));
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    (void)maker_->prepare({job_.seed, 0, static_cast<std::uint64_t>(batch)},
                          graph::batch_seeds(order, job_.batch_size, batch));
  }
}

template <class H>
std::optional<double> Preparation<H>::measure_link_saturation(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (plan_.features != plan::Home::host) {
    return std::nullopt;
  }
  std::optional<double> share;
  hardware_.run([&] {
    open();
    const kernels::device::Rows uncached{graph_->rows.all, graph_->rows.row_bytes, nullptr, nullptr};
    share = link_saturation_share(hardware_, uncached, placed_->graph.features, job_.seed, bytes);
  });
  return share;
}

}  // namespace gnomon::runtime
