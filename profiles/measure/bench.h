#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/learner.h"
#include "plan/job.h"
#include "runtime/host_machine.h"
#include "runtime/stages.h"
#include "schedule/machine.h"

namespace gnomon::profiles {

/// The stages of a job on a real machine of their own, with a model of their own, started one by one as a
/// measurement wants them. One bench serves all numbers of threads: another one's memory would be new, and
/// memory that nobody has written to before is slow.
class Bench {
 public:
  Bench(const graph::Graph& graph, const plan::Job& job, int workers,
        const runtime::DeviceOptions& device = {});

  /// Lets so many threads share each of the workers' mini-batches to come.
  void share_batches(int worker_threads);
  /// Lets a host device prepare and train the mini-batches to come on so many threads; 1 at first.
  void use_device_threads(int threads);

  /// Lets the mini-batches to come be samples, whose features training reads where they are stored.
  void fuse(bool fused);

  /// Lets a GPU prepare the mini-batches to come on so many of its multiprocessors, beside training; 0: by
  /// turns, on all of them.
  void prepare_aside(double share);
  /// Puts adjacency lists and features where a GPU's mini-batches to come read them.
  void hold_data(plan::Home home);

  /// Mini-batches in an epoch.
  std::int64_t batches() const { return stages_.batches(); }
  /// Position i of the stages to come is mini-batch order[i] of `epoch`; what was prepared before is dropped.
  void begin(std::int64_t epoch, const std::vector<std::int64_t>& order);

  /// Runs one stage with nothing beside it.
  schedule::StageSpan alone(schedule::Stage stage, std::int64_t position);
  /// What to start: `stage` of positions first … first + count - 1.
  struct Work {
    schedule::Stage stage;
    std::int64_t first;
    std::int64_t count;
  };
  /// Starts all at once, stages of one engine one after the other, and returns the spans of each when all are
  /// done.
  std::vector<std::vector<schedule::StageSpan>> together(std::span<const Work> works);

  /// The GPU, when the bench has one.
  runtime::Accelerator* accelerator() const { return stages_.accelerator(); }

  runtime::BatchSize device_slot_size(std::int64_t position) const {
    return stages_.device_slot_size(position);
  }

 private:
  plan::Plan plan_;
  std::int64_t epoch_ = 0;
  nn::Learner learner_;
  runtime::Stages stages_;
  runtime::HostMachine machine_;  // after what its threads use
};

}  // namespace gnomon::profiles
