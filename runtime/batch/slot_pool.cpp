#include "runtime/batch/slot_pool.h"

#include <utility>

namespace gnomon::runtime {

void GiveBack::operator()(BatchData* slot) const noexcept {
  if (pool != nullptr) {
    pool->give(slot);
  } else {
    delete slot;
  }
}

Slot SlotPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.reserve(num_slots_ + 1);  // so that give() never allocates
    Slot slot(new BatchData(memory_), GiveBack{this});
    ++num_slots_;
    return slot;
  }
  Slot slot(free_.back().release(), GiveBack{this});
  free_.pop_back();
  return slot;
}

void SlotPool::give(BatchData* slot) noexcept {
  const std::lock_guard lock(mutex_);
  free_.emplace_back(slot);
}

}  // namespace gnomon::runtime
