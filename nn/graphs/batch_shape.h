#pragma once

#include <cstdint>
#include <vector>

#include "nn/tensor_batch.h"

namespace gnomon::nn {

/// The sizes of a sampled mini-batch, by which its tensors have their shapes.
struct BatchShape {
  struct Hop {
    std::int64_t vertices = 0;  ///< seeds and all that hops up to this one have drawn
    std::int64_t edges = 0;
    bool operator==(const Hop&) const = default;
  };
  std::int64_t seeds = 0;
  std::vector<Hop> hops;  ///< from the seeds outwards

  bool operator==(const BatchShape&) const = default;
};

BatchShape shape_of(const TensorBatch& batch);

/// Whether a mini-batch of that shape fits into one of shape `room`, of as many hops.
bool fits(const BatchShape& shape, const BatchShape& room);

/// The smallest shape into which both fit. One without hops is nothing.
BatchShape larger(const BatchShape& left, const BatchShape& right);

/// A shape into which mini-batches fit that are a little larger, whose sizes are multiples for which matrix
/// products are fast. The seeds are as many: no mini-batch has more than a whole one.
BatchShape with_slack(const BatchShape& shape);

}  // namespace gnomon::nn
