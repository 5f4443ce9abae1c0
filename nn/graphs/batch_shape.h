#pragma once

#include <cstdint>
#include <vector>

#include "nn/tensor_batch.h"

namespace gnomon::nn {

/// The sizes of a sampled mini-batch, which determine the shapes of its tensors.
struct BatchShape {
  struct Hop {
    std::int64_t vertices = 0;  ///< the seeds and all vertices drawn up to this hop
    std::int64_t edges = 0;
    bool operator==(const Hop&) const = default;
  };
  std::int64_t seeds = 0;
  std::vector<Hop> hops;  ///< from the seeds outwards

  bool operator==(const BatchShape&) const = default;
};

BatchShape shape_of(const TensorBatch& batch);

/// Whether a mini-batch of shape `shape` fits into a padded one of shape `room`. Both have equally many hops.
bool fits(const BatchShape& shape, const BatchShape& room);

/// The smallest shape into which both fit. An empty shape, one without hops, is neutral.
BatchShape larger(const BatchShape& left, const BatchShape& right);

/// Adds slack to a shape, so that slightly larger mini-batches fit, too, and rounds the sizes up to multiples
/// for which matrix products are fast. The number of seeds is unchanged: it is at most the batch size.
BatchShape with_slack(const BatchShape& shape);

}  // namespace gnomon::nn
