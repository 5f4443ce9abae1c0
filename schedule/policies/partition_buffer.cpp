#include "schedule/policies/partition_buffer.h"

#include <algorithm>

namespace gnomon::schedule {

PartitionBuffer::PartitionBuffer(Epoch& epoch) : epoch_(epoch) {
  const plan::Plan& plan = epoch.plan();
  is_used_ = plan.schedule == plan::Schedule::macro_batch && epoch.batches() > 0;
  if (is_used_) {
    const auto parts = static_cast<std::int64_t>(plan.macro.partitions);
    const auto resident = static_cast<std::int64_t>(plan.macro.resident);
    batches_per_pass_ = std::max<std::int64_t>(1, (epoch.batches() * resident + parts - 1) / parts);
    passes_ = plan.macro.passes;  // nothing is resident yet, so no further pass is possible
    load_next();
  }
}

/// Starts loading the next set of partitions: from the disk, or by all workers and a transfer.
void PartitionBuffer::load_next() {
  const std::int64_t group = num_loads_++;
  if (epoch_.plan().features == plan::Home::disk) {
    next_load_ = epoch_.start(Stage::group_read, group);
  } else {
    next_load_ = epoch_.start_group(group);
  }
}

/// Makes the next set resident if it has been loaded, and returns whether it has.
bool PartitionBuffer::swap_in_next() {
  if (!next_load_ || !epoch_.done(*next_load_)) {
    return false;
  }
  next_load_.reset();
  passes_ = 1;
  return true;
}

bool PartitionBuffer::is_blocked() const {
  return is_used_ && batches_left_ == 0 && next_load_ && !epoch_.done(*next_load_);
}

bool PartitionBuffer::admit(std::int64_t batch) {
  if (!is_used_) {
    return true;
  }
  if (batches_left_ == 0) {
    if (!swap_in_next()) {
      if (passes_ >= epoch_.plan().macro.passes) {
        return false;
      }
      ++passes_;
    }
    batches_left_ = batches_per_pass_;
    if (!next_load_ && batch + batches_per_pass_ < epoch_.batches()) {
      load_next();
    }
  }
  --batches_left_;
  return true;
}

}  // namespace gnomon::schedule
