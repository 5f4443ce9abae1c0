#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/learner.h"
#include "plan/job.h"
#include "runtime/host_machine.h"
#include "runtime/stages.h"
#include "schedule/machine.h"

namespace gnomon::profiles {

/// A job's stages on a real machine with a model of their own, started one by one for measurements. One bench
/// serves all numbers of workers and threads: another bench's memory would be cold, and all of it be needed
/// several times.
class Bench {
 public:
  Bench(const graph::Graph& graph, const plan::Job& job, int max_workers,
        const runtime::DeviceOptions& device = {});

  /// Sets how many threads share each of the workers' next mini-batches.
  void share_batches(int worker_threads);
  /// Sets the threads with which a host device prepares and trains the next mini-batches; 1 at first.
  void use_device_threads(int threads);

  /// Sets how many devices, 1 or 2 of those that there are, prepare and train the next mini-batches: position
  /// i is that of device i mod `devices`.
  void use_devices(int devices);

  /// Whether training reads the features of the next mini-batches where they are stored (plan.fused).
  void fuse(bool fused);

  /// Whether the device executes plans with graphs for this job, and whether training of the next
  /// mini-batches uses them.
  bool executes_graphs() const { return executes_graphs_; }
  void use_graphs(bool uses) { learner_.use_graphs(uses); }

  /// Sets the share of the multiprocessors on which the device prepares the next mini-batches beside
  /// training; 0: preparing and training take turns on all of them.
  void prepare_aside(double share);
  /// Sets the home of adjacency lists and features for the next mini-batches.
  void hold_data(plan::Home home);

  /// Mini-batches in an epoch.
  std::int64_t batches() const { return stages_.batches(); }
  /// Position i of the next stages is mini-batch order[i] of `epoch`. Drops all prepared batches.
  void begin(std::int64_t epoch, const std::vector<std::int64_t>& order);

  /// Runs the stages of positions first … first + count - 1 with nothing beside them, all of one position
  /// before those of the next, and returns the spans in that order. Nobody waits in between: a thread that
  /// slept, or woke on another core, would find its caches cold, as it does not within an epoch.
  std::vector<schedule::StageSpan> in_turn(std::initializer_list<schedule::Stage> stages, std::int64_t first,
                                           std::int64_t count = 1);
  /// What to start: `stage` of positions first … first + count - 1.
  struct Work {
    schedule::Stage stage;
    std::int64_t first;
    std::int64_t count;
  };
  /// Starts all at once on a machine with that many workers, stages of one engine one after the other, and
  /// returns the spans of each when all are done.
  std::vector<std::vector<schedule::StageSpan>> together(std::span<const Work> works, int workers = 1);

  /// Bytes of the model's weights.
  std::int64_t weight_bytes() const { return learner_.weight_bytes(); }

  runtime::Device& device() const { return stages_.device(); }

  runtime::BatchSize device_slot_size(std::int64_t position) const {
    return stages_.device_slot_size(position);
  }

 private:
  runtime::HostMachine& machine_of(int workers);

  plan::Plan plan_;
  std::int64_t epoch_ = 0;
  nn::Learner learner_;
  std::array<nn::StepSums, 2> sums_;  ///< of the two devices; not read, as training reads them once an epoch
  const int devices_;                 ///< that the machines have
  const bool executes_graphs_;
  std::unique_ptr<nn::Learner> second_learner_;  ///< of the second device
  runtime::Stages stages_;
  /// By number of workers, made at first use. After what their threads use.
  std::map<int, std::unique_ptr<runtime::HostMachine>> machines_;
};

}  // namespace gnomon::profiles
