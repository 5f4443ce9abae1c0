#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/ratio.h"
#include "profiles/measure/statistics.h"
#include "profiles/measurement.h"
#include "runtime/device_options.h"
#include "schedule/machine.h"

namespace gnomon::profiles {

/// The measurements of all rounds.
struct Measured {
  std::array<Series, schedule::num_basic_stages> alone;
  Series vertices, edges, bytes;
  Ratio cpu_batch_beside_train, train_beside_cpu_batch;
  Ratio cpu_batch_beside_device_batch, device_batch_beside_cpu_batch;
  Ratio transfer_beside_train, train_beside_transfer;
  Ratio cpu_batch_beside_transfer, transfer_beside_cpu_batch;
  /// A GPU's stages beside workers on all cores but one; the first two of a pipeline, so beside each other
  /// too. And its workers' mini-batches over those of one that works alone.
  Ratio transfer_beside_workers, train_beside_workers, device_batch_beside_workers;
  Ratio workers_beside_device;
  Ratio team_beside_cpu_batch,
      cpu_batch_beside_team;  ///< training on all cores beside a worker, and vice versa
  Ratio train_beside_device_batch, device_batch_beside_train;  ///< of a device that prepares beside training
  Ratio prepare_share;  ///< preparation on a share of a GPU over preparation on all of it
  Ratio train_beside_train, device_batch_beside_device_batch;  ///< of two devices
  Series cpu_sample, device_sample;        ///< cpu_batch and device_batch without gathering
  Ratio structure_transfer;                ///< copying a mini-batch without features over all of it
  Ratio fused_train;                       ///< training on stored feature rows over training on gathered ones
  Ratio graphs_train;                      ///< training by recorded launches over training without
  std::map<int, Ratio> worker_efficiency;  ///< by number of workers: time alone over time together
  std::map<int, Ratio> cpu_batch_speedup;  ///< by number of threads that share a batch
  std::map<int, Ratio> cpu_sample_speedup;
  std::map<int, Ratio> train_speedup;  ///< by number of threads: time with one over time with all
  std::map<int, Ratio> device_batch_speedup;
  /// The epoch's last mini-batch, if it is smaller, relative to a full one: its stage times and sizes.
  std::array<Ratio, schedule::num_basic_stages> partial;
  /// The first mini-batch after other work relative to the following ones, as at the start of an epoch.
  std::array<Ratio, schedule::num_basic_stages> first;
  Ratio partial_vertices, partial_edges, partial_bytes;
  std::int64_t max_batch_bytes = 0;
  std::int64_t training_bytes = 0;  ///< peak memory of training's temporary tensors; 0 if unknown
  std::int64_t rounds = 0;

  Series& of(schedule::Stage stage) { return alone[static_cast<std::size_t>(stage)]; }
  const Series& of(schedule::Stage stage) const { return alone[static_cast<std::size_t>(stage)]; }
  bool converged(const StopRule& rule) const;
};

/// The time to prepare, to only sample, and to train a mini-batch with all data in device memory.
struct Resident {
  double device_batch_s = 0;
  double device_sample_s = 0;
  std::optional<double> train_s{};         ///< none if only caches are in device memory
  std::optional<double> train_slowdown{};  ///< of a GPU's training beside such preparation
};

/// Runs rounds of measurements of a job's stages (profiles/measure/workload.h).
class Rounds {
 public:
  Rounds(const graph::Graph& graph, const plan::Job& job, int cores, const runtime::DeviceOptions& device,
         const std::atomic<bool>* stop);

  /// Runs the stages without measuring until they stop getting faster, when slots, caches and allocators are
  /// warm. At least once; `out_of_time` is checked before each further pass. Returns an estimate of the time
  /// to prepare and then train a mini-batch, in seconds.
  double warm_up(const std::function<bool()>& out_of_time);

  /// Adds one round of all measurements to `measured`; `out_of_time` is checked before each one after the
  /// first. Those that measure ratios are skipped once they have used their share of the time: the stages
  /// alone get at least half of it.
  void run(Measured& measured, const std::function<bool()>& out_of_time);
  /// The same for the stages alone and the chosen measurements(), by index. A measurement that lacks memory
  /// on the device is not repeated, and what it measures stays unknown.
  void run(Measured& measured, std::span<const std::size_t> chosen, const std::function<bool()>& out_of_time);
  /// What a round can measure, the stages alone first. To be called after warm_up().
  std::vector<Measurement> measurements() const;

  /// Measures the times to prepare and to only sample mini-batches with all data in device memory: medians of
  /// rounds, at least two of which are run regardless of the time limit. Precondition: the memory is large
  /// enough. To be called last.
  Resident measure_resident(double time_limit_s);
  /// The same where the memory is not large enough, from how much shorter preparation gets by reads that a
  /// cache in the free memory answers: first of features, then of adjacency lists. To be called last.
  Resident measure_cached(double time_limit_s);

  std::int64_t batches() const { return bench_.batches(); }
  /// The graph as the stages read it.
  std::shared_ptr<const runtime::PlacedGraph> placed() const { return bench_.placed(); }
  /// Number of seeds of the last mini-batch relative to a full one; none if all mini-batches are full.
  std::optional<double> partial_share() const;
  runtime::Device& device() const { return bench_.device(); }
  /// Peak device memory during the warm-up, in which mini-batches were prepared and trained one at a time; 0
  /// if unknown.
  std::int64_t peak_bytes() const { return peak_bytes_; }
  /// Bytes of the model's weights.
  std::int64_t weight_bytes() const { return bench_.weight_bytes(); }
  bool has_link() const { return device().has_link(); }
  /// Whether the device's kernels run on the host's cores.
  bool on_cores() const { return plan::runs_on_cores(device_kind_); }

 private:
  /// One of two concurrent stages, and the slowdown that it measures.
  struct Neighbour {
    /// The mini-batch `first` is a warm-up; the `count` after it are measured.
    Bench::Work work;
    Ratio& slowdown;
    double usual_s = 0;  ///< time alone; 0: the time on one thread in this round
  };

  /// A part of a round: the stages alone, or what measures ratios to them.
  struct Part {
    Measurement what;
    std::function<void(Measured& measured, std::int64_t epoch)> take;
    double seconds = 0;         ///< of all rounds
    bool lacks_memory = false;  ///< on the device
  };

  std::vector<std::int64_t> next_batches(std::int64_t count);
  std::vector<schedule::StageSpan> in_turn(std::initializer_list<schedule::Stage> stages, std::int64_t first,
                                           std::int64_t count);
  std::vector<schedule::StageSpan> warm_in_turn(std::initializer_list<schedule::Stage> stages,
                                                std::int64_t first, std::int64_t warm_ups,
                                                std::int64_t measured);
  std::vector<schedule::StageSpan> device_in_turn(std::int64_t first);
  std::int64_t device_run() const { return device_warm_ups_ + device_chunk_; }
  void prepare_on_cpu(std::int64_t first, std::int64_t count);
  schedule::StageTimes times_in_turn(bool fused);
  Resident prepared(double time_limit_s);
  std::optional<double> train_beside_preparation(double usual_s);
  std::vector<schedule::StageSpan> device_pipeline(std::int64_t epoch);
  double alone(schedule::Stage stage, std::int64_t position);
  bool runs_pipelines() const;
  double pass();
  void warm_slots();
  void make_parts();
  void add_part(std::string name, std::vector<std::string> informs, double passes,
                void (Rounds::*method)(Measured& measured, std::int64_t epoch));
  void add_part(std::string name, std::vector<std::string> informs, double passes, int threads,
                void (Rounds::*method)(Measured& measured, std::int64_t epoch, int threads));
  void add_parts_beside(double each);
  void add_parts_of_threads(int threads);
  void take(Part& part, Measured& measured, std::int64_t epoch);
  double mean_s(schedule::Stage stage, std::int64_t first, std::int64_t count);
  double alone_s(schedule::Stage stage) const { return alone_s_[static_cast<std::size_t>(stage)]; }
  void count_batch(Measured& measured, std::int64_t position) const;
  void measure_alone(Measured& measured, std::int64_t epoch);
  void measure_partial(Measured& measured, std::int64_t epoch);
  void measure_structure(Measured& measured, std::int64_t epoch);
  void measure_sampling(Measured& measured, std::int64_t epoch);
  void measure_fused(Measured& measured, std::int64_t epoch);
  void measure_graphs(Measured& measured, std::int64_t epoch);
  void measure_side_by_side(Measured& measured, std::int64_t epoch);
  void measure_pipelines(Measured& measured, std::int64_t epoch);
  void measure_beside_workers(Measured& measured, std::int64_t epoch);
  void beside_workers(schedule::Stage stage, std::int64_t count, std::int64_t on_cpu, Ratio& slowdown);
  double measure_share(Measured& measured, std::int64_t epoch, std::int64_t warm_ups, std::int64_t count);
  void measure_aside(Measured& measured, std::int64_t epoch);
  void side_by_side(const Neighbour& first, const Neighbour& second);
  void measure_devices(Measured& measured, std::int64_t epoch);
  void beside_itself(schedule::Stage stage, std::int64_t count, Ratio& slowdown);
  void measure_workers(Measured& measured, std::int64_t epoch, int workers);
  void measure_threads(Measured& measured, std::int64_t epoch, int threads);
  void measure_sharing(Measured& measured, std::int64_t epoch, int threads);

  /// On a GPU: mini-batches that are prepared and trained in turn, and those before them in which the thread
  /// that starts the kernels, which has slept, gets faster. These runs take some tens of milliseconds.
  static constexpr std::int64_t gpu_chunk = 16;
  static constexpr std::int64_t gpu_warm_ups = 8;
  /// The same of stages after which the mini-batches stay in the GPU's memory.
  static constexpr std::int64_t gpu_copies = 6;
  static constexpr std::int64_t gpu_copy_warm_ups = 2;

  int cores_;
  plan::DeviceKind device_kind_;
  int devices_;
  const std::atomic<bool>* stop_;
  std::int64_t num_seeds_;
  int batch_size_;
  std::int64_t next_batch_ = 0;
  bool has_learned_graphs_ = false;  ///< sizes of mini-batches (nn::LearnedRoom)
  std::int64_t round_ = 0;
  std::int64_t chunk_ = 2;  ///< mini-batches of one kind in a round
  /// The same of those that the device prepares and trains in turn, and those before them that do not count.
  std::int64_t device_chunk_ = 2;
  std::int64_t device_warm_ups_ = 1;
  std::int64_t max_batch_bytes_ = 0;
  std::int64_t max_slots_ = 0;  ///< mini-batches that fit in memory
  int warm_workers_ = 1;        ///< number of workers whose memory is warm
  bool second_device_is_warm_ = false;
  bool pipelines_are_warm_ = false;
  std::int64_t peak_bytes_ = 0;
  double pass_s_ = 0;        ///< duration of the last warm-up pass
  std::vector<Part> parts_;  ///< the stages alone first
  double time_on_ratios_s_ = 0;
  std::array<double, schedule::num_basic_stages> alone_s_{};  ///< means of this round
  Bench bench_;
};

}  // namespace gnomon::profiles
