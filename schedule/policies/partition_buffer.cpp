#include "schedule/policies/partition_buffer.h"

#include <algorithm>

namespace gnomon::schedule {
namespace {

/// The mini-batches of each macro-batch if all parts of the graph have equally many.
std::vector<std::int64_t> equal_sizes(const plan::Macro& macro, std::int64_t batches) {
  const auto parts = static_cast<std::int64_t>(macro.partitions);
  const auto resident = static_cast<std::int64_t>(macro.resident);
  const std::int64_t each = std::max<std::int64_t>(1, (batches * resident + parts - 1) / parts);
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = batches; left > 0; left -= each) {
    sizes.push_back(std::min(each, left));
  }
  return sizes;
}

}  // namespace

PartitionBuffer::PartitionBuffer(Epoch& epoch) : epoch_(epoch) {
  is_used_ = epoch.plan().schedule == plan::Schedule::macro_batch && epoch.batches() > 0;
  if (is_used_) {
    sizes_ = epoch.group_sizes();
    if (sizes_.empty()) {
      sizes_ = equal_sizes(epoch.plan().macro, epoch.batches());
    }
    load_next({});
  }
}

bool PartitionBuffer::finished() const {
  return is_used_ ? left_ == 0 && !next_load_ : admitted_ == epoch_.batches();
}

/// Starts loading the next macro-batch: from the disk, or by all workers and a transfer.
void PartitionBuffer::load_next(std::span<const Ticket> readers) {
  const std::int64_t group = loads_++;
  if (epoch_.plan().features == plan::Home::disk) {
    next_load_ = epoch_.start_after(Stage::group_read, group, readers);
  } else {
    next_load_ = epoch_.start_group(group, readers);
  }
}

/// Makes the next macro-batch resident if it has been loaded, and returns whether it has.
bool PartitionBuffer::open_next(const Readers& readers) {
  if (!next_load_ || !epoch_.done(*next_load_)) {
    return false;
  }
  next_load_.reset();
  left_ = sizes_[static_cast<std::size_t>(opened_++)];
  pass_ = 0;
  begins_.push_back(admitted_);
  if (opened_ < std::ssize(sizes_)) {
    load_next(readers());
  }
  return true;
}

bool PartitionBuffer::may_pass_again() const { return opened_ > 0 && pass_ + 1 < epoch_.plan().macro.passes; }

/// Begins another pass over the resident macro-batch, unless it had as many as it may.
bool PartitionBuffer::begin_pass() {
  if (!may_pass_again()) {
    return false;
  }
  ++pass_;
  left_ = sizes_[static_cast<std::size_t>(opened_ - 1)];
  index_ -= left_;
  return true;
}

bool PartitionBuffer::admit(const Readers& readers) {
  if (is_used_) {
    is_blocked_ = left_ == 0 && !open_next(readers) && !begin_pass();
    if (is_blocked_) {
      return false;
    }
    --left_;
    if (pass_ > 0 || index_ != admitted_) {
      epoch_.assign(admitted_, index_, pass_);
    }
    ++index_;
  }
  ++admitted_;
  return true;
}

std::int64_t PartitionBuffer::begin_of(std::int64_t position) const {
  return begins_.empty() ? 0 : *std::prev(std::upper_bound(begins_.begin(), begins_.end(), position));
}

}  // namespace gnomon::schedule
