#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/learner.h"
#include "plan/job.h"
#include "runtime/host_machine.h"
#include "runtime/reuse/hot_embeddings.h"
#include "runtime/stages.h"
#include "runtime/training/history.h"
#include "schedule/machine.h"

namespace gnomon::profiles {

/// Runs a job's stages individually on a real machine, with a model of its own, for measurements. One bench
/// serves all numbers of workers and threads, as a second bench would have cold memory and need all of it
/// again.
class Bench {
 public:
  /// `reuse` of all vertices' embeddings: mini-batches have one hop and all vertices as seeds, and training
  /// pulls and pushes embeddings.
  Bench(const graph::Graph& graph, const plan::Job& job, int max_workers,
        const runtime::DeviceOptions& device = {}, plan::Reuse reuse = plan::Reuse::none);

  /// Sets the number of threads that share each of the workers' next mini-batches.
  void share_batches(int worker_threads);
  /// Sets the threads with which a host device prepares and trains the next mini-batches; 1 at first.
  void use_device_threads(int threads);

  /// Sets how many of the devices (1 or 2) prepare and train the next mini-batches: position i runs on device
  /// i mod `devices`.
  void use_devices(int devices);

  /// Lets the next mini-batches reuse the first layer's rows of a share of the vertices, the hottest, which
  /// begin() computes; 0: none.
  void reuse_hot(double ratio);

  /// Whether training reads the features of the next mini-batches where they are stored (plan.fused).
  void fuse(bool fused);

  /// Whether the device executes plans with graphs for this job, and whether training of the next
  /// mini-batches uses them.
  bool executes_graphs() const { return executes_graphs_; }
  void use_graphs(bool uses) { learner_.use_graphs(uses); }
  /// Frees the memory of recorded steps.
  void forget_graphs() { learner_.forget_graphs(); }

  /// Sets the share of its thread slots on which the device prepares the next mini-batches beside training;
  /// 0: preparing and training take turns on all of them.
  void prepare_aside(double share);
  /// Sets the home of adjacency lists and features for the next mini-batches.
  void hold_data(plan::Home home);
  /// Sets what the device's free memory caches for the next mini-batches, from the first training on.
  void cache(bool features, bool topology);
  /// Whether CPU workers only sample the next mini-batches, whose features the device gathers.
  void gather_on_device(bool gathers);

  /// The graph as the stages read it.
  std::shared_ptr<const runtime::PlacedGraph> placed() const { return stages_.placed(); }
  /// Mini-batches in an epoch.
  std::int64_t batches() const { return stages_.batches(); }
  /// Position i of the next stages is mini-batch order[i] of `epoch`. Drops all prepared batches.
  void begin(std::int64_t epoch, const std::vector<std::int64_t>& order);

  /// Runs the stages of positions first … first + count - 1 one at a time, all stages of a position before
  /// those of the next, and returns the spans in that order. There is no pause in between: a thread that
  /// slept, or woke on another core, would find cold caches, unlike within an epoch.
  std::vector<schedule::StageSpan> in_turn(std::initializer_list<schedule::Stage> stages, std::int64_t first,
                                           std::int64_t count = 1);
  /// A request: `stage` of positions first … first + count - 1.
  struct Work {
    schedule::Stage stage;
    std::int64_t first;
    std::int64_t count;
  };
  /// Starts all requests at once on a machine with `workers` workers; stages of the same engine are
  /// sequential. Returns the spans of each request when all are done.
  std::vector<std::vector<schedule::StageSpan>> together(std::span<const Work> works, int workers = 1);

  /// A plan's pipeline, whose stages run at the same time.
  struct Pipeline {
    plan::Route route = plan::Route::cpu;
    int workers = 1;
    double prepare_share = 0;  ///< as in plan::Plan
  };
  /// Trains the mini-batches order[0], … of `epoch` through a pipeline. Returns the spans of all stages.
  std::vector<schedule::StageSpan> pipelined(const Pipeline& pipeline, std::int64_t epoch,
                                             const std::vector<std::int64_t>& order);

  /// Drops all mini-batches and waits for stages that run, after one of them has failed; the next stages run
  /// as a new bench's.
  void reset();

  /// Bytes of the model's weights.
  std::int64_t weight_bytes() const { return learner_.weight_bytes(); }

  runtime::Device& device() const { return stages_.device(); }

  runtime::BatchSize device_slot_size(std::int64_t position) const {
    return stages_.device_slot_size(position);
  }

 private:
  void learn(const nn::TensorBatch& data, std::int64_t batch, int device);
  runtime::HostMachine& machine_of(int workers);
  void take_plan(const plan::Plan& plan);

  plan::Job job_;
  const plan::Plan usual_;
  plan::Plan plan_;
  std::int64_t epoch_ = 0;
  nn::Learner learner_;
  std::array<nn::StepSums, 2> sums_;  ///< of the two devices; not read, as training reads them once an epoch
  const int devices_;                 ///< the machines' number of devices
  const bool prepares_apart_;         ///< on a thread of its own, whatever the plan
  const bool executes_graphs_;
  std::unique_ptr<nn::Learner> second_learner_;  ///< of the second device
  std::optional<runtime::History> history_;      ///< if the embeddings of all vertices are reused
  std::unique_ptr<runtime::HotEmbeddings> hot_;  ///< if those of hot vertices are
  runtime::Stages stages_;
  /// By number of workers, and whether the device prepares beside training; created on first use. Declared
  /// after the members that their threads use.
  std::map<std::pair<int, bool>, std::unique_ptr<runtime::HostMachine>> machines_;
};

}  // namespace gnomon::profiles
