#include "runtime/stages.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/interleave.h"
#include "graph/epoch_order.h"
#include "plan/cached_rows.h"
#include "plan/disk_plans.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/cache/preferred_rows.h"
#include "schedule/run_epoch.h"

namespace gnomon::runtime {
namespace {

std::size_t slot_of(std::int64_t position) { return static_cast<std::size_t>(position); }

/// The plan from the perspective of one device: with divided roles, samplers read no features, and trainers
/// no adjacency lists.
plan::Plan plan_of(const plan::Plan& plan, int device) {
  auto own = plan;
  const int trainer = schedule::first_trainer(plan);
  if (device < trainer) {
    own.features = plan::Home::host;
    own.cache.features = false;
  } else if (trainer > 0 && device >= trainer) {
    own.topology = plan::Home::host;
    own.cache.topology = false;
  }
  return own;
}

/// Whether samplers read the structure in the memory-mapped store, because a copy would be too large.
bool is_mapped(const PlacedGraph& placed) {
  return placed.topology.indptr.data() == placed.graph.indptr.data();
}

bool has_macro_batches(const plan::Plan& plan) { return plan.schedule == plan::Schedule::macro_batch; }

std::shared_ptr<const PlacedGraph> placed_for(const graph::Graph& graph, const plan::Job& job,
                                              plan::Placement placement) {
  return std::make_shared<const PlacedGraph>(
      place(graph, draws_of(graph, job), placement, base::memory_nodes()));
}

}  // namespace

bool works_beside_training(const plan::Plan& plan) {
  return plan.prepares_beside_training() || schedule::first_trainer(plan) > 0;
}

Stages::Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn,
               DeviceOptions device, base::Progress progress, Average average)
    : graph_(features_for(graph, device)),
      job_(std::move(job)),
      plan_(plan),
      learn_(std::move(learn)),
      average_(std::move(average)),
      device_options_(std::move(device)),
      progress_(std::move(progress)) {
  take_plan(plan);
}

/// Opens the data that the plan reads from the disk, and places the graph unless it is already placed as the
/// plan requires. Macro-batches are placed one by one.
void Stages::place_graph(const plan::Plan& plan) {
  const bool is_first = placed_ == nullptr;
  const bool reads_alike = !is_first && reads_disk_alike(plan, plan_);
  const bool leaves_lists = plan.topology == plan::Home::disk;
  const bool left_lists = plan_.topology == plan::Home::disk;
  const bool moves = is_first || plan.placement != plan_.placement || leaves_lists != left_lists ||
                     (leaves_lists && !reads_alike);
  if (plan.pinning != plan_.pinning || moves) {
    samplers_.clear();  // they hold threads and refer to the previously placed graph
  }
  if (!reads_alike) {
    const bool by_batches = plan::reads_disk(plan) && !has_macro_batches(plan);
    disk_ = by_batches ? std::make_unique<DiskData>(graph_, job_, plan) : nullptr;
  }
  if (moves && leaves_lists) {
    placed_ =
        disk_ ? disk_->place_lists(graph_) : std::make_shared<const PlacedGraph>(PlacedGraph{graph_, {}});
  } else if (moves) {
    placed_ = placed_for(graph_, job_, plan.placement);
  }
  if (has_macro_batches(plan) && (moves || !macro_)) {
    macro_ = std::make_unique<MacroData>(make_loader(placed_, job_, plan, progress_), job_, plan,
                                         [this](MacroBatch& first) { check_macro_memory(first); });
    has_checked_macro_ = false;
  }
}

void Stages::take_plan(const plan::Plan& plan) {
  place_graph(plan);
  plan_ = plan;
  for (std::size_t number = 0; number < static_cast<std::size_t>(plan_.devices); ++number) {
    if (number < devices_.size()) {
      devices_[number]->take_plan(plan_of(plan_, static_cast<int>(number)), placed_);
    } else {
      devices_.push_back(
          open_device(placed_, job_, plan_of(plan_, static_cast<int>(number)), device_options_, progress_));
      devices_.back()->join(*devices_.front());
    }
  }
  cache_slots_.clear();
  if (plan::leaves_out_cached_rows(plan) && devices_.front()->has_link()) {
    cache_slots_ = slots_of(placed_->graph.num_vertices(), preferred_rows(placed_->graph, plan));
  }
  thread_cores_ = thread_cores(plan);  // determined here, as a pinned worker only sees its own core
  const auto workers = static_cast<std::size_t>(std::max(1, plan.workers));
  auto& samplers = samplers_[plan.worker_threads];
  samplers.resize(std::max(samplers.size(), workers));  // a later plan may use more workers again
}

std::int64_t Stages::batches(std::int64_t epoch) const {
  if (macro_) {
    return macro_->layout_of(epoch)->batches();
  }
  return graph::num_batches(static_cast<std::int64_t>(placed_->graph.train.size()), job_.batch_size);
}

void Stages::begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order, HotEmbeddings* hot,
                         std::int64_t first) {
  hot_ = hot;
  first_ = first;
  const auto positions = order.size() * slot_of(macro_ ? plan_.macro.passes : 1);
  host_slots_.clear();
  device_slots_.clear();
  host_slots_.resize(positions);
  device_slots_.resize(positions);
  vertices_.assign(plan_.embeddings.reuse == plan::Reuse::all ? order.size() : 0, {});
  epoch_ = epoch;
  order_ = std::move(order);
  batches_at_ = order_;
  batches_at_.resize(positions);
  if (macro_) {
    if (std::exchange(opened_, nullptr)) {  // the device lets go of it, too
      devices_.front()->take_plan(plan_, placed_);
    }
    macro_->begin_epoch(epoch, order_);
    check_macro_memory();
    return;
  }
  if (epoch != seeds_epoch_) {  // an epoch may run in several parts
    seeds_ = graph::epoch_order(placed_->graph.train, job_.seed, static_cast<std::uint64_t>(epoch));
    seeds_epoch_ = epoch;
  }
  if (disk_) {
    fill_host_caches();
    disk_->begin_epoch(epoch, order_);
  }
}

/// Samples the first mini-batches, without features, to determine their sizes.
BatchNeeds Stages::measure_batches(const SampleAt& sample, const graph::Features& features,
                                   const kernels::cpu::Sampler& sampler) {
  constexpr std::int64_t max_batches = 3;
  const auto slot = at(0).slots().take();
  BatchNeeds needs;
  const auto in_first_group = macro_ ? macro_->group_sizes().front() : std::ssize(order_);
  for (std::int64_t position = 0; position < std::min(max_batches, in_first_group); ++position) {
    sample(position, *slot);
    const std::int64_t rows = plan_.prepares_samples() ? 0 : std::ssize(slot->batch.vertices);
    needs.slot = std::max(needs.slot, slot->bytes() + rows * features.row_bytes());
    needs.training = std::max(needs.training, training_bytes(job_, slot->batch, features));
  }
  needs.sampler = sampler.bytes();
  needs.training = std::max(needs.training, evaluation_bytes_);
  return needs;
}

/// Whether the plan's macro-batches fit beside the process, before the first one is loaded.
void Stages::check_macro_memory() {
  if (!plan::reads_disk(plan_) || std::exchange(has_checked_macro_, true)) {
    return;
  }
  auto needs =
      needs_of(plan_, {.training = evaluation_bytes_}, 0, model_bytes_, process_bytes(placed_->graph));
  needs.readers = plan::disk_reader_bytes;  // one thread reads for all
  needs.macro_batches = macro_->max_bytes();
  check_room(plan_, needs, device_options_.host_bytes);
}

/// The same with the mini-batches that are drawn from the first one.
void Stages::check_macro_memory(MacroBatch& first) {
  if (!plan::reads_disk(plan_)) {
    return;
  }
  auto& sampler = first.sampler(0, job_.fanouts, threads_of(0));
  const auto& graph = first.placed()->graph;
  const auto sample = [&](std::int64_t position, BatchData& data) {
    sample_batch(graph, sampler, key_of(position), local_seeds_of(position, first), data);
  };
  auto needs = needs_of(plan_, measure_batches(sample, graph.features, sampler), macro_->layout().batches(),
                        model_bytes_, process_bytes(placed_->graph));
  needs.readers = plan::disk_reader_bytes;
  needs.macro_batches = std::max<std::int64_t>(0, macro_->max_bytes() - first.bytes());
  check_room(plan_, needs, device_options_.host_bytes);
}

/// Disk caches get the rest of the host memory.
void Stages::fill_host_caches() {
  if (!disk_->waits_for_memory() || order_.empty()) {
    return;
  }
  std::int64_t process = process_bytes(placed_->graph);
  if (plan_.topology == plan::Home::host && is_mapped(*placed_)) {
    process += kernels::cpu::resident_bytes(placed_->graph);
  }
  auto& sampler = sampler_of(0);
  const auto sample = [&](std::int64_t position, BatchData& data) {
    sample_batch(placed_->graph, sampler, key_of(position), seeds_of(position), data);
  };
  const auto needs = needs_of(plan_, measure_batches(sample, placed_->graph.features, sampler), batches(),
                              model_bytes_, process);
  disk_->fill_caches(cache_room(plan_, needs, device_options_.host_bytes), placed_);
}

kernels::cpu::BatchThreads Stages::threads_of(int worker) const {
  return {plan_.worker_threads, thread_cores_[static_cast<std::size_t>(worker)]};
}

kernels::cpu::Sampler& Stages::sampler_of(int worker) {
  auto& sampler = samplers_.at(plan_.worker_threads)[static_cast<std::size_t>(worker)];
  if (!sampler) {
    sampler = std::make_unique<kernels::cpu::Sampler>(placed_->topology, job_.fanouts,
                                                      kernels::cpu::EdgeIds::omit, threads_of(worker));
  }
  return *sampler;
}

kernels::BatchKey Stages::key_of(std::int64_t position) const {
  return {job_.seed, static_cast<std::uint64_t>(epoch_), static_cast<std::uint64_t>(batch_of(position))};
}

std::span<const graph::VertexId> Stages::seeds_of(std::int64_t position) const {
  return graph::batch_seeds(seeds_, job_.batch_size, batch_of(position));
}

std::vector<graph::VertexId> Stages::local_seeds_of(std::int64_t position, const MacroBatch& macro) const {
  return macro.local_seeds(macro_->layout().seeds_of(batch_of(position)));
}

void Stages::assign(std::int64_t position, std::int64_t index, int pass) {
  batches_at_[slot_of(position)] = order_[slot_of(index)] + pass * macro_->layout().batches();
}

/// Samples a batch and gathers its features in its macro-batch.
void Stages::prepare_from(MacroBatch& macro, std::int64_t position, int worker, BatchData& data) {
  prepare_batch(macro.placed()->graph, macro.sampler(worker, job_.fanouts, threads_of(worker)),
                key_of(position), local_seeds_of(position, macro), data);
}

/// Lets the device prepare from the macro-batch of a position. Its stages follow one another, so that none of
/// another macro-batch is left.
void Stages::open_macro(std::int64_t position, int device) {
  auto macro = macro_->batch_with(batch_of(position));
  if (macro != opened_) {
    opened_ = std::move(macro);
    at(device).open_graph(opened_->placed());
  }
}

/// The vertices of the batch in training, and which of them are of the halo.
void Stages::note_halo(std::int64_t position, const DeviceBatch& batch) {
  const auto macro = macro_->batch_with(batch_of(position));
  vertices_in_training_.clear();
  halo_in_training_.clear();
  const auto ids = batch.slot ? ids_of(*batch.slot) : batch.vertices.cpu();
  for (const graph::VertexId local :
       std::span(ids.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(ids.numel()))) {
    if (macro->is_halo()[slot_of(local)] != 0) {
      halo_in_training_.push_back(std::ssize(vertices_in_training_));
    }
    vertices_in_training_.push_back(macro->vertices()[slot_of(local)]);
  }
}

void Stages::cpu_batch(std::int64_t position, int worker) {
  auto& slots = at(device_of(position)).slots();
  auto slot = slots.take();
  if (macro_) {
    prepare_from(*macro_->batch_with(batch_of(position)), position, worker, *slot);
  } else if (plan_.prepares_samples()) {
    sample_batch(placed_->graph, sampler_of(worker), key_of(position), seeds_of(position), *slot);
  } else if (disk_ && disk_->has_features()) {
    sample_batch(placed_->graph, sampler_of(worker), key_of(position), seeds_of(position), *slot);
    disk_->gather(position, worker, *slot);
  } else {
    prepare_batch(placed_->graph, sampler_of(worker), key_of(position), seeds_of(position), *slot,
                  cache_slots_);
  }
  for (int i = 0; i < plan_.handover_copies; ++i) {
    auto handed_over = slots.take();
    copy_batch(*slot, *handed_over);
    slot = std::move(handed_over);
  }
  host_slots_[slot_of(position)] = std::move(slot);
}

void Stages::transfer(std::int64_t position, int device) {
  if (!vertices_.empty()) {
    vertices_[slot_of(position)] = host_slots_[slot_of(position)]->batch.vertices;
  }
  device_slots_[slot_of(position)] = at(device).copy(std::move(host_slots_[slot_of(position)]));
}

void Stages::device_batch(std::int64_t position, int device) {
  if (macro_) {
    open_macro(position, device);
    device_slots_[slot_of(position)] =
        at(device).prepare(key_of(position), local_seeds_of(position, *opened_));
  } else if (hot_ != nullptr) {
    device_slots_[slot_of(position)] =
        at(device).prepare_pruned(key_of(position), seeds_of(position), hot_->hot_of(first_ + position));
  } else if (plan_.gather == plan::Gather::trainer) {
    auto slot = at(device).slots().take();
    device_slots_[slot_of(position)].work = at(device).sample(key_of(position), seeds_of(position), *slot);
    host_slots_[slot_of(position)] = std::move(slot);
  } else {
    device_slots_[slot_of(position)] = at(device).prepare(key_of(position), seeds_of(position));
  }
}

void Stages::device_gather(std::int64_t position, int device) {
  at(device).gather(device_slots_[slot_of(position)]);
}

void Stages::train(std::int64_t position, int device) {
  if (!vertices_.empty()) {
    vertices_in_training_ = std::move(vertices_[slot_of(position)]);
  }
  auto slot = std::exchange(device_slots_[slot_of(position)], {});
  if (plan_.embeddings.reuse == plan::Reuse::halo) {
    note_halo(position, slot);
  }
  const auto bottom = slot.bottom;
  const auto vertices = slot.size.vertices;
  device_slots_[slot_of(position)].work =
      at(device).train(std::move(slot), [&](const nn::TensorBatch& batch) {
        if (bottom == nullptr) {
          learn_(batch, batch_of(position), device);
        } else {
          auto with_reused = batch;
          with_reused.reused = hot_->reused_by(first_ + position, *bottom, vertices);
          learn_(with_reused, batch_of(position), device);
        }
      });
}

std::int64_t Stages::device_peak_bytes() const {
  std::int64_t peak = 0;
  for (const auto& device : devices_) {
    peak = std::max(peak, device->peak_bytes());
  }
  return peak;
}

DeviceWorkPtr Stages::take_work(schedule::Stage stage, std::int64_t position) {
  const bool is_on_device = schedule::is_of_batch(stage) && stage != schedule::Stage::cpu_batch;
  return is_on_device ? std::move(device_slots_[slot_of(position)].work) : nullptr;
}

/// A device that only samples fills its caches without a training step before.
void Stages::after(schedule::Stage stage, int device) {
  const bool only_samples = device < schedule::first_trainer(plan_);
  if (stage != (only_samples ? schedule::Stage::device_batch : schedule::Stage::train)) {
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  if (at(device).fill_due_caches()) {
    filling_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
}

void Stages::group_prepare(std::int64_t group, int worker) {
  if (macro_) {
    return macro_->prepare(group);
  }
  hot_->prepare(first_ / plan_.super_batch + group, worker);
}

void Stages::group_transfer(std::int64_t group) {
  if (macro_) {
    const auto macro = macro_->batch_of_group(group);
    device().copy_graph(macro->placed(), macro->wanted_rows());
  } else {
    hot_->transfer(first_ / plan_.super_batch + group, device());
  }
}

int Stages::first_with_gradients() const { return plan_.switch_roles ? 0 : schedule::first_trainer(plan_); }

/// In a ring all-reduce every device sends and receives 2 (D-1)/D of the gradients.
void Stages::all_reduce() {
  const auto bytes = static_cast<double>(average_());
  const int trainers = plan_.devices - schedule::first_trainer(plan_);
  const auto sent = static_cast<std::int64_t>(2.0 * (trainers - 1) / trainers * bytes);
  std::vector<std::function<void()>> exchanges;
  for (int device = schedule::first_trainer(plan_); sent > 0 && device < plan_.devices; ++device) {
    exchanges.push_back(at(device).begin_exchange(sent));
  }
  for (const auto& finish : exchanges) {
    finish();
  }
}

void Stages::hold_model(std::int64_t bytes) {
  model_bytes_ = bytes;
  for (int device = first_with_gradients(); device < plan_.devices; ++device) {
    at(device).hold_model(bytes);
  }
}

CacheUse Stages::take_cache_use() {
  CacheUse sum;
  for (const auto& device : devices_) {
    sum += device->take_cache_use();
  }
  if (disk_) {
    sum += disk_->take_cache_use();
  }
  return sum;
}

ReadCounts Stages::take_disk_reads() {
  ReadCounts reads = disk_ ? disk_->take_reads() : ReadCounts{};
  if (macro_) {
    reads += macro_->take_reads();
  }
  return reads;
}

StageWork Stages::work() {
  StageWork work{[this](std::int64_t position, int worker) { cpu_batch(position, worker); },
                 [this](std::int64_t position, int device) { transfer(position, device); },
                 [this](std::int64_t position, int device) { device_batch(position, device); },
                 [this](std::int64_t position, int device) { train(position, device); },
                 [this](std::int64_t position, int device) { device_gather(position, device); },
                 [this](std::int64_t) { all_reduce(); },
                 [this](std::int64_t group, int worker) { group_prepare(group, worker); },
                 [this](std::int64_t group) { group_transfer(group); },
                 {},
                 {},
                 {},
                 [this](schedule::Stage stage, int device) { after(stage, device); },
                 [this](schedule::Stage stage, std::int64_t position) { return take_work(stage, position); }};
  if (macro_) {
    work.group_sizes = [this] { return macro_->group_sizes(); };
    work.assign = [this](std::int64_t position, std::int64_t index, int pass) {
      assign(position, index, pass);
    };
  }
  if (macro_ && plan_.features == plan::Home::disk) {
    work.group_read = [this](std::int64_t group) { macro_->load(group); };
  }
  return work;
}

BatchSize Stages::device_slot_size(std::int64_t position) const {
  return device_slots_[slot_of(position)].size;
}

}  // namespace gnomon::runtime
