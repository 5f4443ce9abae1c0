#include "runtime/macro/macro_data.h"

#include <stdexcept>
#include <utility>

#include "base/index.h"

namespace gnomon::runtime {

using base::at;

MacroData::MacroData(std::unique_ptr<MacroLoader> loader, plan::Job job, plan::Plan plan, OnFirst on_first)
    : loader_(std::move(loader)),
      job_(std::move(job)),
      plan_(std::move(plan)),
      on_first_(std::move(on_first)) {}

std::shared_ptr<const MacroLayout> MacroData::layout_of(std::int64_t epoch) {
  if (!requested_layout_ || requested_epoch_ != epoch) {
    requested_layout_ = std::make_shared<const MacroLayout>(loader_->groups(epoch), job_, epoch);
    requested_epoch_ = epoch;
  }
  return requested_layout_;
}

void MacroData::begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) {
  layout_ = layout_of(epoch);
  epoch_ = epoch;
  groups_.clear();
  for (const std::int64_t batch : order) {
    const std::int64_t group = layout_->group_of(batch);
    if (groups_.empty() || groups_.back().in_layout != group) {
      groups_.push_back({group, 0});
    }
    ++groups_.back().size;
  }
  const std::lock_guard lock(mutex_);
  loadings_.clear();
  in_memory_.clear();
}

std::vector<std::int64_t> MacroData::group_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const Group& group : groups_) {
    sizes.push_back(group.size);
  }
  return sizes;
}

std::int64_t MacroData::max_bytes() const {
  const auto most = loader_->max_bytes();
  const bool is_whole_graph = plan_.macro.resident == plan_.macro.partitions;
  return most.loading + (is_whole_graph ? 1 : 2) * most.batch;
}

void MacroData::load(std::int64_t group) {
  {
    const std::lock_guard lock(mutex_);
    if (group >= 2) {
      in_memory_.erase(groups_[at(group - 2)].in_layout);
    }
  }
  const std::int64_t number = groups_.at(at(group)).in_layout;
  auto batch = loader_->load(*layout_, number, epoch_);
  if (auto on_first = std::exchange(on_first_, nullptr)) {
    on_first(*batch);
  }
  const std::lock_guard lock(mutex_);
  in_memory_[number] = std::move(batch);
}

void MacroData::prepare(std::int64_t group) {
  std::unique_lock lock(mutex_);
  const bool is_first = loadings_.try_emplace(group, Loading::begun).second;
  if (!is_first) {
    loaded_.wait(lock, [&] { return loadings_[group] != Loading::begun; });
    return;
  }
  lock.unlock();
  auto outcome = Loading::failed;
  const auto tell = std::shared_ptr<void>(nullptr, [&](void*) {
    const std::lock_guard guard(mutex_);
    loadings_[group] = outcome;
    loaded_.notify_all();
  });
  load(group);
  outcome = Loading::done;
}

std::shared_ptr<MacroBatch> MacroData::batch_of_group(std::int64_t group) const {
  const std::lock_guard lock(mutex_);
  return in_memory_.at(groups_[at(group)].in_layout);
}

std::shared_ptr<MacroBatch> MacroData::batch_with(std::int64_t mini_batch) const {
  const std::lock_guard lock(mutex_);
  return in_memory_.at(layout_->group_of(mini_batch));
}

}  // namespace gnomon::runtime
