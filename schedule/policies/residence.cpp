#include "schedule/policies/residence.h"

#include <algorithm>

namespace gnomon::schedule {

Residence::Residence(Epoch& epoch) : epoch_(epoch) {
  const plan::Plan& plan = epoch.plan();
  is_used_ = plan.schedule == plan::Schedule::macro_batch && epoch.batches() > 0;
  if (is_used_) {
    const auto parts = static_cast<std::int64_t>(plan.macro.partitions);
    const auto resident = static_cast<std::int64_t>(plan.macro.resident);
    part_batches_ = std::max<std::int64_t>(1, (epoch.batches() * resident + parts - 1) / parts);
    passes_ = plan.macro.passes;  // of nothing: there is nothing to use again yet
    prepare_next();
  }
}

/// From the disk, or by all workers and a copy.
void Residence::prepare_next() {
  const std::int64_t group = groups_++;
  if (epoch_.plan().features == plan::Home::disk) {
    next_ = epoch_.start(Stage::group_read, group);
  } else {
    next_ = epoch_.start_group(group);
  }
}

/// Makes the next part the resident one, when it is there, and starts with the part after it.
bool Residence::open_next() {
  if (!next_ || !epoch_.done(*next_)) {
    return false;
  }
  next_.reset();
  passes_ = 1;
  return true;
}

bool Residence::is_late() const { return is_used_ && left_ == 0 && next_ && !epoch_.done(*next_); }

bool Residence::admits(std::int64_t batch) {
  if (!is_used_) {
    return true;
  }
  if (left_ == 0) {
    if (!open_next()) {
      if (passes_ >= epoch_.plan().macro.passes) {
        return false;
      }
      ++passes_;
    }
    left_ = part_batches_;
    if (!next_ && batch + part_batches_ < epoch_.batches()) {
      prepare_next();
    }
  }
  --left_;
  return true;
}

}  // namespace gnomon::schedule
