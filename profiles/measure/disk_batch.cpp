#include "profiles/measure/disk_batch.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "base/median.h"
#include "base/team.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/batch/batch_data.h"
#include "runtime/disk/ahead_sampler.h"
#include "runtime/disk/disk_data.h"
#include "runtime/disk/optimal_choices.h"

namespace gnomon::profiles {
namespace {

using plan::Home;
using runtime::BatchData;

constexpr std::int64_t max_disk_batches = 4;
/// Of the caches and tables of a measurement.
constexpr std::int64_t max_bytes = std::int64_t{1} << 28;

plan::Plan disk_plan(Home topology) {
  plan::Plan plan;
  plan.name = "profiler";
  plan.route = plan::Route::cpu;
  plan.workers = 1;
  plan.topology = topology;
  plan.features = Home::disk;
  plan.cache = {.policy = plan::CachePolicy::recent,
                .features = true,
                .topology = topology == Home::disk,
                .place = Home::host};
  return plan;
}

/// Everything that is on the disk, and more, as caches are divided.
std::int64_t cache_bytes(const graph::Graph& graph) {
  const auto all = graph.features.bytes() + static_cast<std::int64_t>(graph.indices.bytes().size());
  return std::min(max_bytes, all + all / 2);
}

/// Makes the first mini-batches of an epoch, sampled from a topology, over and over.
class FewBatches {
 public:
  using Gather = std::function<void(std::int64_t batch, BatchData& data)>;

  FewBatches(const graph::Graph& graph, const plan::Job& job, const kernels::cpu::Topology& topology,
             Gather gather, const std::atomic<bool>* stop)
      : job_(job),
        order_(graph::epoch_order(graph.train, job.seed, 0)),
        sampler_(topology, job.fanouts),
        gather_(std::move(gather)),
        stop_(stop) {}

  /// Makes each once, as many as there is time for, but at least one.
  void fill_caches(double time_limit_s) {
    const Stopwatch watch;
    const auto all = graph::num_batches(std::ssize(order_), job_.batch_size);
    do {
      make(count_++);
    } while (count_ < std::min(max_disk_batches, all) && watch.seconds() < time_limit_s);
  }

  /// The median time to make each of them again.
  double median_s() {
    constexpr int passes = 3;
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < passes * count_; ++i) {
      const Stopwatch watch;
      make(i % count_);
      seconds.push_back(watch.seconds());
    }
    return base::median(seconds);
  }

 private:
  void make(std::int64_t batch) {
    throw_if_stopped(stop_);
    sampler_.sample({job_.seed, 0, static_cast<std::uint64_t>(batch)},
                    graph::batch_seeds(order_, job_.batch_size, batch), data_.batch);
    gather_(batch, data_);
  }

  const plan::Job& job_;
  std::vector<graph::VertexId> order_;
  kernels::cpu::Sampler sampler_;
  Gather gather_;
  const std::atomic<bool>* stop_;
  BatchData data_;
  std::int64_t count_ = 0;
};

/// The time with features, and the lists where `topology` is there, on the disk; none if caches do not hold
/// what is used.
std::optional<double> from_disk_s(const graph::Graph& graph,
                                  const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                  const plan::Job& job, Home topology, const AccessOptions& options) {
  runtime::DiskData disk(graph, job, disk_plan(topology));
  const auto read = topology == Home::disk ? disk.place_lists(graph) : placed;
  disk.fill_caches(cache_bytes(graph), read);
  std::vector<std::int64_t> order(base::at(max_disk_batches));
  std::iota(order.begin(), order.end(), 0);
  disk.begin_epoch(0, order);
  FewBatches batches(
      graph, job, read->topology,
      [&disk](std::int64_t batch, BatchData& data) { disk.gather(batch, 0, data); }, options.stop);
  batches.fill_caches(options.time_limit_s);
  constexpr std::int64_t few = 100;
  const std::int64_t filling = disk.take_reads().reads;
  const double seconds = batches.median_s();
  return disk.take_reads().reads > filling / few ? std::nullopt : std::optional(seconds);
}

/// The time to decide what an optimal cache holds, for each of as many mini-batches as there is time to
/// sample.
std::optional<double> choices_s(const graph::Graph& graph,
                                const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                const plan::Job& job, const AccessOptions& options) {
  constexpr auto bytes_of_vertex = static_cast<std::int64_t>(2 * sizeof(std::int32_t));
  if (graph.num_vertices() > max_bytes / bytes_of_vertex) {
    return std::nullopt;
  }
  constexpr std::int64_t max_sampled_batches = 256;
  const auto all = graph::num_batches(std::ssize(graph.train), job.batch_size);
  runtime::AheadSampler ahead(placed, job, 1);
  std::vector<std::vector<std::uint32_t>> batches;
  std::int64_t accesses = 0;
  const Stopwatch sampling;
  do {
    throw_if_stopped(options.stop);
    auto& vertices = batches.emplace_back();
    ahead.sample(0, std::ssize(batches) - 1, 0, vertices);
    accesses += std::ssize(vertices);
  } while (std::ssize(batches) < std::min(max_sampled_batches, all) &&
           sampling.seconds() < options.time_limit_s);
  constexpr std::int64_t accesses_per_slot = 4;  // so that rows are replaced
  runtime::OptimalChoices choices(graph.num_vertices(), accesses / accesses_per_slot);
  std::vector<double> seconds;
  for (int pass = 0; pass < 3; ++pass) {
    const Stopwatch watch;
    choices.decide(batches);
    seconds.push_back(watch.seconds());
  }
  return base::median(seconds) / static_cast<double>(batches.size());
}

DiskBatchTimes measure_times(const graph::Graph& graph,
                             const std::shared_ptr<const runtime::PlacedGraph>& placed, const plan::Job& job,
                             const AccessOptions& options) {
  base::Team alone(1);
  FewBatches in_memory(
      graph, job, placed->topology,
      [&](std::int64_t, BatchData& data) { runtime::gather_features(placed->graph, alone, data); },
      options.stop);
  in_memory.fill_caches(options.time_limit_s);
  const double in_memory_s = in_memory.median_s();
  const auto with_rows_s = from_disk_s(graph, placed, job, Home::host, options);
  const auto with_lists_s = with_rows_s ? from_disk_s(graph, placed, job, Home::disk, options) : std::nullopt;
  DiskBatchTimes times;
  if (with_rows_s) {
    times.rows_s = std::max(0.0, *with_rows_s - in_memory_s);
  }
  if (with_lists_s) {
    times.lists_s = std::max(0.0, *with_lists_s - *with_rows_s);
  }
  times.choices_s = choices_s(graph, placed, job, options);
  return times;
}

}  // namespace

DiskBatchTimes measure_disk_batch(const graph::Graph& graph,
                                  const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                  const plan::Job& job, const AccessOptions& options) {
  if (graph.directory.empty() || graph.features.is_sparse() || job.weighted) {
    return {};
  }
  constexpr double parts = 4;  // in memory, rows, lists, and choices
  AccessOptions of_part = options;
  of_part.time_limit_s /= parts;
  try {
    return measure_times(graph, placed, job, of_part);
  } catch (const base::Failure&) {  // no plan can read this store, either
    return {};
  }
}

}  // namespace gnomon::profiles
