#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "base/process_memory.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/catalog.h"
#include "profiles/measurement.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

struct MeasureOptions {
  double asked_interval = 0.02;  ///< half width over mean of every stage's 95 % confidence interval
  /// For everything; running stages and the minimum number of rounds are completed.
  double time_limit_s = 20;
  /// Called after the warm-up with an estimate of the job's epoch time. Returns the maximum time to measure,
  /// if that is less than the time limit. May be empty.
  std::function<double(double epoch_s)> worth_s = {};
  /// Chooses the measurements of the first rounds, until it chooses none or the time is up. Empty: there are
  /// no such rounds.
  ChooseMeasurements choose = {};
  /// Whether rounds of all measurements follow, until they are as precise as asked; always without `choose`.
  bool precise = true;
  /// Whether that is measured, too, which only plans that change the training depend on.
  bool all = true;
  /// This machine, where it was measured before: its bandwidths are not measured again, speed-ups are
  /// believed by its speeds before they are measured, and the profile keeps these.
  std::optional<CatalogMachine> machine = {};
  /// The process's memory before anything was measured, that of `machine` included; none: at the call.
  std::optional<base::ProcessMemory> memory_before = {};
  base::Progress progress = {};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  runtime::DeviceOptions device = {};       ///< the device that trains
};

/// Measures this machine and a job's stages on it, with a model of its own that is discarded: no training is
/// affected.
///
/// Rounds are repeated until the confidence intervals of all stages are as narrow as requested or the time
/// limit is reached. Each round (rounds.h) runs, on the threads and slots that training uses,
///   - mini-batches one after another, stage by stage: the stages alone;
///   - with more than one core, two kinds of stages side by side: contention (contention.h);
///   - several workers together: worker efficiency;
///   - the device's stages with more threads: their speed-up.
/// These are followed by memory and cache accesses and, for a graph from a store, the disk (disk.h).
/// What there was no time for is as it was believed before (Profile::beliefs), or unknown, and so is what the
/// device's memory does not suffice for.
///
/// Ratios are of times in the same round, so that a drift of the machine's speed cancels. Throws InputError
/// (a job or graph that cannot be trained), Interrupted.
Profile measure(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options);

}  // namespace gnomon::profiles
