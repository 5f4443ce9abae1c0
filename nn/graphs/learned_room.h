#pragma once

#include <cstdint>
#include <vector>

#include "nn/graphs/batch_shape.h"

namespace gnomon::nn {

/// Learns the capacity ("room") of padded mini-batches from an epoch's mini-batches. The capacity is empty in
/// the first epoch; afterwards it is the largest shape of that epoch, with slack. It grows after each epoch
/// that had a batch beyond it. It is a pure function of the mini-batches taken.
class LearnedRoom {
 public:
  /// Takes the next mini-batch. Returns whether it fits.
  bool take(const BatchShape& shape, std::int64_t epoch);

  /// Current capacity; empty (without hops) in the first epoch.
  const BatchShape& shape() const { return room_; }

  /// Serialised state, for a checkpoint. restore() throws std::invalid_argument for numbers that are not such
  /// a state.
  std::vector<std::int64_t> numbers() const;
  void restore(const std::vector<std::int64_t>& numbers);

 private:
  std::int64_t epoch_ = -1;   ///< of the last batch
  bool is_exceeded_ = false;  ///< by a batch of that epoch
  BatchShape largest_;        ///< of that epoch
  BatchShape room_;
};

}  // namespace gnomon::nn
