#pragma once

#include <memory>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

class SlotPool;

/// Returns a slot to its pool instead of deleting it.
struct GiveBack {
  SlotPool* pool = nullptr;
  void operator()(BatchData* slot) const noexcept;
};

/// A mini-batch in host memory. Its destructor returns it to its pool, which must outlive it.
using Slot = std::unique_ptr<BatchData, GiveBack>;

/// A pool of host slots: after the first mini-batches the slots are large enough, and nothing is allocated
/// any more. Thread-safe.
class SlotPool {
 public:
  /// The features of its slots lie in `memory`, which must outlive the pool.
  explicit SlotPool(std::pmr::memory_resource* memory = std::pmr::new_delete_resource()) : memory_(memory) {}
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;
  ~SlotPool() = default;

  /// Returns the slot that was returned last, with its old content, or a new one.
  Slot take();

 private:
  friend GiveBack;
  void give(BatchData* slot) noexcept;

  std::pmr::memory_resource* memory_;
  std::mutex mutex_;
  std::size_t num_slots_ = 0;  ///< free and taken
  std::vector<std::unique_ptr<BatchData>> free_;
};

}  // namespace gnomon::runtime
