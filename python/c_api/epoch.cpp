#include "python/c_api/epoch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/cores.h"
#include "base/error.h"
#include "python/c_api/blocked_signals.h"

namespace gnomon::c_api {
namespace {

void check_field(bool is_valid, const char* field, const char* rule) {
  if (!is_valid) {
    throw base::InputError(field, rule);
  }
}

void check_attributes(const char* field, std::int32_t count, const gnomon_dl_tensor* attributes,
                      std::int64_t rows) {
  check_field(count >= 0 && (count == 0 || attributes != nullptr), field, "is null");
  for (std::int32_t i = 0; i < count; ++i) {
    const gnomon_dl_tensor& each = attributes[i];
    check_field(each.ndim >= 1 && each.shape != nullptr && each.strides == nullptr && each.shape[0] == rows,
                field, "must be C-contiguous arrays of one row for each vertex or edge");
    const bool is_empty = std::count(each.shape, each.shape + each.ndim, 0) > 0;
    check_field(each.data != nullptr || is_empty, field, "is null");
  }
}

void check_batches(const gnomon_epoch_input& input) {
  check_field(input.num_batches >= 0, "num_batches", "is negative");
  require(input.batch_begins, "batch_begins");
  check_field(input.seeds != nullptr || input.batch_begins[input.num_batches] == 0, "seeds", "is null");
  check_field(input.batch_begins[0] >= 0 &&
                  std::is_sorted(input.batch_begins, input.batch_begins + input.num_batches + 1),
              "batch_begins", "must not fall");
  check_field(input.first_batch >= 0 && input.first_batch <= input.num_batches, "first_batch",
              "must be a batch of the epoch");
}

void check_input(const gnomon_epoch_input& input, const GraphData& graph) {
  check_batches(input);
  check_field(input.num_workers >= 0 && input.num_workers <= 1024, "num_workers", "must be 0 to 1024");
  check_field(input.max_ahead >= 1 && input.max_ahead <= 65536, "max_ahead", "must be 1 to 65536");
  check_field(input.negatives >= GNOMON_NO_NEGATIVES && input.negatives <= GNOMON_TRIPLET, "negatives",
              "is unknown");
  check_field(input.negatives_per_link >= 0 && input.negatives_per_link <= 1e6, "negatives_per_link",
              "must be 0 to 1e6");
  check_field(input.store_features == 0 || (graph.store && graph.store->features.any()), "store_features",
              "needs a graph of a store with features");
  check_attributes("vertex_attributes", input.num_vertex_attributes, input.vertex_attributes,
                   graph.topology.num_vertices());
  check_field(input.cache_slots == nullptr || input.store_features != 0 || input.num_vertex_attributes > 0,
              "cache_slots", "needs an attribute of vertices");
  check_attributes("edge_attributes", input.num_edge_attributes, input.edge_attributes,
                   graph.topology.num_edges());
}

/// The seeds of the largest batch.
std::int64_t max_seeds_of(const gnomon_epoch_input& input) {
  std::int64_t max = 0;
  for (std::int64_t batch = 0; batch < input.num_batches; ++batch) {
    max = std::max(max, input.batch_begins[batch + 1] - input.batch_begins[batch]);
  }
  return max;
}

}  // namespace

Epoch::Epoch(std::shared_ptr<Loader> loader, const gnomon_epoch_input& input)
    : loader_(std::move(loader)),
      input_(input),
      next_prepared_(input.first_batch),
      next_taken_(input.first_batch) {
  process().check("loader");
  check_input(input_, loader_->graph());
  slots_.resize(static_cast<std::size_t>(input_.max_ahead));
  const auto left = std::min<std::int64_t>(input_.num_workers, input_.num_batches - input_.first_batch);
  for (std::int64_t i = 0; i < left; ++i) {
    makers_.push_back(loader_->take_maker());
  }
  if (makers_.empty()) {
    makers_.push_back(loader_->take_maker_of_caller(max_seeds_of(input_)));
  }
  const BlockedSignals blocked;
  try {
    for (std::int64_t i = 0; i < left; ++i) {
      BatchMaker& maker = *makers_[static_cast<std::size_t>(i)].maker;
      threads_.emplace_back([this, &maker] { work(maker); });
      if (!maker.cores().empty()) {
        base::pin_thread(threads_.back().native_handle(), maker.cores().front());
      }
    }
  } catch (const std::exception& error) {
    stop();
    throw base::Failure("num_workers", std::string("cannot start threads: ") + error.what());
  }
}

Epoch::~Epoch() { stop(); }

void Epoch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  for (auto& each : makers_) {
    loader_->give_back(std::move(each));
  }
  makers_.clear();
}

void Epoch::work(BatchMaker& maker) {
  std::unique_lock lock(mutex_);
  while (true) {
    room_.wait(lock, [&] {
      return stopped_ || next_prepared_ == input_.num_batches ||
             next_prepared_ < next_taken_ + std::ssize(slots_);
    });
    if (stopped_ || next_prepared_ == input_.num_batches) {
      return;
    }
    const std::int64_t index = next_prepared_++;
    lock.unlock();
    Slot prepared = prepare(maker, index);
    lock.lock();
    slot_of(index) = std::move(prepared);
    if (index == next_taken_) {
      ready_.notify_one();
    }
  }
}

Epoch::Slot Epoch::prepare(BatchMaker& maker, std::int64_t index) const {
  Slot slot;
  slot.ready = true;
  try {
    const kernels::BatchKey key{loader_->sampling().seed, input_.epoch, static_cast<std::uint64_t>(index)};
    const auto begin = static_cast<std::size_t>(input_.batch_begins[index]);
    const auto count = static_cast<std::size_t>(input_.batch_begins[index + 1]) - begin;
    const auto num_vertices = static_cast<std::size_t>(loader_->graph().topology.num_vertices());
    const Attributes attributes{
        {input_.vertex_attributes, static_cast<std::size_t>(input_.num_vertex_attributes)},
        {input_.edge_attributes, static_cast<std::size_t>(input_.num_edge_attributes)},
        input_.store_features != 0 ? &loader_->graph().store->features : nullptr,
        {input_.cache_slots, input_.cache_slots == nullptr ? 0 : num_vertices}};
    const std::span seeds(input_.seeds + begin, count);
    slot.batch = input_.link_ends == nullptr
                     ? maker.of_vertices(key, seeds, attributes)
                     : maker.of_links(key,
                                      {.sources = seeds,
                                       .destinations = {input_.link_ends + begin, count},
                                       .negatives = input_.negatives,
                                       .negatives_per_link = input_.negatives_per_link},
                                      attributes);
  } catch (...) {
    slot.error = std::current_exception();
  }
  return slot;
}

Epoch::Next Epoch::next(std::chrono::duration<double> timeout, Batch& batch, std::int64_t& index) {
  process().check("loader");
  std::unique_lock lock(mutex_);
  if (stopped_ || next_taken_ == input_.num_batches) {
    return Next::end;
  }
  if (threads_.empty()) {
    return deliver(prepare(*makers_.front().maker, next_taken_), batch, index);
  }
  if (!ready_.wait_for(lock, timeout, [&] { return slot_of(next_taken_).ready; })) {
    return Next::pending;
  }
  return deliver(std::exchange(slot_of(next_taken_), {}), batch, index);
}

/// Hands the next batch out. Called with the mutex held.
Epoch::Next Epoch::deliver(Slot slot, Batch& batch, std::int64_t& index) {
  index = next_taken_++;
  if (slot.error) {
    stopped_ = true;
    room_.notify_all();
    std::rethrow_exception(slot.error);
  }
  room_.notify_one();
  batch = std::move(slot.batch);
  return Next::batch;
}

}  // namespace gnomon::c_api
