#pragma once

#include <atomic>
#include <cstdint>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::profiles {

struct EpochOptions {
  std::int64_t epoch = 0;                   ///< whose mini-batches
  std::int64_t most_batches = 0;            ///< only the first so many; 0: all
  std::int64_t warm_up_batches = 12;        ///< trained before the clock starts: slots, caches, allocators
  base::Progress progress = {};             ///< mini-batches trained
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
};

/// Seconds that one epoch of a resolved plan takes for real, from its first start to its last update, with a
/// model that is thrown away. Throws InputError and Interrupted.
double measure_epoch_s(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan,
                       const EpochOptions& options);

}  // namespace gnomon::profiles
