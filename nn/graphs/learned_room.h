#pragma once

#include <cstdint>
#include <vector>

#include "nn/graphs/batch_shape.h"

namespace gnomon::nn {

/// Learns how large an epoch's mini-batches are. There is no room in the first epoch; afterwards it is that
/// of the largest batch of an epoch, with slack. After an epoch with a batch that did not fit, it grows. So
/// it is a pure function of the mini-batches that were taken.
class LearnedRoom {
 public:
  /// Takes the next mini-batch. Returns whether there is room for it.
  bool take(const BatchShape& shape, std::int64_t epoch);

  /// The room now; without hops before there is one.
  const BatchShape& shape() const { return room_; }

  /// All of it as numbers, for a checkpoint; restore() takes them, and throws std::invalid_argument for
  /// others.
  std::vector<std::int64_t> numbers() const;
  void restore(const std::vector<std::int64_t>& numbers);

 private:
  std::int64_t epoch_ = -1;   ///< of the last batch
  bool is_exceeded_ = false;  ///< by a batch of that epoch
  BatchShape largest_;        ///< of that epoch
  BatchShape room_;
};

}  // namespace gnomon::nn
