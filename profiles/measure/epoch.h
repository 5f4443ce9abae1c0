#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/device_options.h"
#include "schedule/machine.h"

namespace gnomon::profiles {

struct EpochOptions {
  std::int64_t epoch = 0;        ///< whose mini-batches are trained
  std::int64_t max_batches = 0;  ///< maximum number of mini-batches; 0: all
  /// Trained before the clock starts, to warm up slots, caches and allocators. For devices behind a link at
  /// least so many that each slot is used: pinning its memory takes longer than a mini-batch. For plans
  /// with macro-batches at least those of as many macro-batches as are in memory at a time.
  std::int64_t warm_up_batches = 12;
  double min_s = 0;                         ///< minimum total time: epochs are repeated until it is reached
  base::Progress progress = {};             ///< mini-batches trained, of the first epoch
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  runtime::DeviceOptions device = {};       ///< what trains
};

struct MeasuredEpoch {
  double seconds = 0;  ///< from the first start to the last update
  std::vector<schedule::StageSpan> timeline;
  /// Peak memory of the device that used most, of all epochs; 0 for devices in the host's memory.
  std::int64_t device_bytes = 0;
};

/// Runs a resolved plan for real, with a temporary model, and returns its epoch; of several epochs, the one
/// with the median time. Throws InputError, also for a plan that the device does not execute, and
/// Interrupted.
MeasuredEpoch measure_epoch(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan,
                            const EpochOptions& options);

}  // namespace gnomon::profiles
