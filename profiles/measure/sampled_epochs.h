#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/block.h"
#include "plan/job.h"

namespace gnomon::profiles {

/// Accesses by vertex.
using Counts = std::vector<std::int32_t>;

/// The size of a sampled mini-batch.
struct BatchCounts {
  struct Hop {
    std::int64_t destinations = 0;  ///< vertices whose neighbours are drawn
    std::int64_t edges = 0;
  };
  std::int64_t vertices = 0;
  std::vector<Hop> hops;  ///< from the seeds outwards

  std::int64_t edges() const;
};

/// The accesses of one epoch's mini-batches.
struct EpochCounts {
  explicit EpochCounts(std::int64_t vertices);
  void add(const kernels::MiniBatch& batch);

  Counts rows;                       ///< feature rows
  Counts lists;                      ///< adjacency lists
  Counts destinations;               ///< of the first layer
  Counts edges;                      ///< to these
  std::vector<BatchCounts> batches;  ///< in the epoch's order
};

struct SampledEpochs {
  EpochCounts first, second;
  double batch_s = 0;  ///< median time of sampling a mini-batch on one thread

  /// Returns the mini-batches of both epochs with as many seeds as the job asks for, the first epoch's first.
  std::vector<BatchCounts> full_batches(const plan::Job& job) const;
};

struct AccessOptions {
  double time_limit_s = 1;                  ///< of the sampling; two batches are always sampled
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};             ///< mini-batches sampled
};

/// Samples the mini-batches of epochs 0 and 1 alternately, as a training would, and counts their accesses.
SampledEpochs sample_two_epochs(const graph::Graph& graph, const plan::Job& job,
                                const AccessOptions& options);

}  // namespace gnomon::profiles
