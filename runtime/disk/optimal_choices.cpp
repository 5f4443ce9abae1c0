#include "runtime/disk/optimal_choices.h"

#include <algorithm>

#include "base/index.h"

namespace gnomon::runtime {
namespace {

using base::at;

}  // namespace

OptimalChoices::OptimalChoices(std::int64_t num_vertices, std::int64_t capacity)
    : capacity_(capacity), slot_of_(at(num_vertices), none), first_use_(at(num_vertices)) {
  vertex_.reserve(at(capacity));
  next_use_.reserve(at(capacity));
  before_.reserve(at(capacity));
  behind_.reserve(at(capacity));
}

std::vector<std::vector<RowChoice>> OptimalChoices::decide(
    const std::vector<std::vector<std::uint32_t>>& batches) {
  never_ = static_cast<std::uint32_t>(batches.size());
  auto choices = next_uses(batches);
  relink_all();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    decide_batch(batches[i], choices[i]);
  }
  return choices;
}

/// Stores the next use of each access's vertex in the memory of its choice, and the first use of each vertex
/// in first_use_.
std::vector<std::vector<RowChoice>> OptimalChoices::next_uses(
    const std::vector<std::vector<std::uint32_t>>& batches) {
  std::fill(first_use_.begin(), first_use_.end(), never_);
  std::vector<std::vector<RowChoice>> uses(batches.size());
  for (std::size_t i = batches.size(); i-- > 0;) {
    uses[i].reserve(batches[i].size());
    for (const std::uint32_t vertex : batches[i]) {
      uses[i].push_back(RowChoice::pending(first_use_[vertex]));
      first_use_[vertex] = static_cast<std::uint32_t>(i);
    }
  }
  return uses;
}

/// Links the slots by their newly known uses.
void OptimalChoices::relink_all() {
  heads_.assign(std::size_t{never_} + 1, none);
  latest_ = 0;
  for (Slot slot = 0; slot < static_cast<Slot>(vertex_.size()); ++slot) {
    link(slot, first_use_[vertex_[at(slot)]]);
  }
}

void OptimalChoices::decide_batch(const std::vector<std::uint32_t>& vertices,
                                  std::vector<RowChoice>& choices) {
  misses_.clear();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Slot slot = slot_of_[vertices[i]];
    if (slot == none) {
      misses_.push_back(i);
    } else {
      unlink(slot);
      link(slot, choices[i].next_use());
      choices[i] = RowChoice::held_in(slot);
    }
  }
  for (const std::size_t i : misses_) {
    choices[i] = place(vertices[i], choices[i].next_use());
  }
}

/// Assigns a row that was read to a free slot, or to that of a row with a later next use.
RowChoice OptimalChoices::place(std::uint32_t vertex, std::uint32_t next_use) {
  Slot slot = static_cast<Slot>(vertex_.size());
  if (slot < capacity_) {
    vertex_.push_back(vertex);
    next_use_.push_back(never_);
    before_.push_back(none);
    behind_.push_back(none);
  } else {
    const std::uint32_t last = capacity_ == 0 ? 0 : last_use();
    if (last <= next_use) {
      return RowChoice::read();
    }
    slot = heads_[last];
    unlink(slot);
    slot_of_[vertex_[at(slot)]] = none;
    vertex_[at(slot)] = vertex;
  }
  slot_of_[vertex] = slot;
  link(slot, next_use);
  return RowChoice::read_into(slot);
}

void OptimalChoices::link(Slot slot, std::uint32_t next_use) {
  next_use_[at(slot)] = next_use;
  before_[at(slot)] = none;
  behind_[at(slot)] = heads_[next_use];
  if (heads_[next_use] != none) {
    before_[at(heads_[next_use])] = slot;
  }
  heads_[next_use] = slot;
  latest_ = next_use == never_ ? latest_ : std::max(latest_, next_use);
}

void OptimalChoices::unlink(Slot slot) {
  const Slot before = before_[at(slot)];
  const Slot behind = behind_[at(slot)];
  (before == none ? heads_[next_use_[at(slot)]] : behind_[at(before)]) = behind;
  if (behind != none) {
    before_[at(behind)] = before;
  }
}

/// The latest next use of all slots. Precondition: there is a slot.
std::uint32_t OptimalChoices::last_use() {
  if (heads_[never_] != none) {
    return never_;
  }
  while (latest_ > 0 && heads_[latest_] == none) {
    --latest_;
  }
  return latest_;
}

}  // namespace gnomon::runtime
