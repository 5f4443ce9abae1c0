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
#include "profiles/measure/statistics.h"
#include "runtime/batch/batch_data.h"
#include "runtime/disk/disk_data.h"

namespace gnomon::profiles {
namespace {

using base::at;
using plan::Home;
using runtime::BatchData;

constexpr std::int64_t max_disk_batches = 4;
constexpr int disk_batch_passes = 4;  ///< of which the first fills the caches

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

/// The mini-batches of the measurement.
class FewBatches {
 public:
  FewBatches(const graph::Graph& graph, const plan::Job& job)
      : job_(job),
        order_(graph::epoch_order(graph.train, job.seed, 0)),
        count_(std::min(max_disk_batches, graph::num_batches(std::ssize(order_), job.batch_size))) {}

  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> numbers(at(count_));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  /// The median time to sample each from this topology and to gather its features, in the disk_batch_passes
  /// after the first.
  double median_s(const kernels::cpu::Topology& topology,
                  const std::function<void(std::int64_t batch, BatchData& data)>& gather) const {
    kernels::cpu::Sampler sampler(topology, job_.fanouts);
    BatchData data;
    std::vector<double> seconds;
    for (int pass = 0; pass < disk_batch_passes; ++pass) {
      for (const std::int64_t batch : numbers()) {
        const Stopwatch watch;
        sampler.sample({job_.seed, 0, static_cast<std::uint64_t>(batch)},
                       graph::batch_seeds(order_, job_.batch_size, batch), data.batch);
        gather(batch, data);
        if (pass > 0) {
          seconds.push_back(watch.seconds());
        }
      }
    }
    return base::median(seconds);
  }

 private:
  const plan::Job& job_;
  std::vector<graph::VertexId> order_;
  std::int64_t count_;
};

/// Bytes of caches that hold what the mini-batches use, in blocks of the lists' file, and more, as caches are
/// divided.
std::int64_t enough_bytes(const graph::Graph& graph, const plan::Job& job) {
  constexpr double most_block_bytes = 4096;
  constexpr double to_spare = 1.5;
  double vertices = static_cast<double>(job.batch_size);
  double edges = 0;
  for (const int fanout : job.fanouts) {
    const double drawn = vertices * (fanout > 0 ? fanout : 1e9);
    edges += drawn;
    vertices += drawn;
  }
  const auto all_vertices = static_cast<double>(graph.num_vertices());
  const double list_bytes = static_cast<double>(graph.indices.bytes().size());
  const double all = static_cast<double>(graph.features.bytes()) + list_bytes;
  const double share =
      std::max(std::min(1.0, max_disk_batches * vertices / all_vertices),
               std::min(1.0, max_disk_batches * edges * most_block_bytes / std::max(1.0, list_bytes)));
  constexpr double most_bytes = 256e6;
  return static_cast<std::int64_t>(std::min(most_bytes, to_spare * share * all));
}

DiskBatchTimes measure_times(const graph::Graph& graph,
                             const std::shared_ptr<const runtime::PlacedGraph>& placed,
                             const plan::Job& job) {
  const FewBatches batches(graph, job);
  const auto from_disk_s = [&](Home topology) {
    runtime::DiskData disk(graph, job, disk_plan(topology));
    const auto read = topology == Home::disk ? disk.place_lists(graph) : placed;
    disk.fill_caches(enough_bytes(graph, job), read);
    disk.begin_epoch(0, batches.numbers());
    return batches.median_s(read->topology,
                            [&](std::int64_t batch, BatchData& data) { disk.gather(batch, 0, data); });
  };
  base::Team alone(1);
  const double in_memory_s = batches.median_s(placed->topology, [&](std::int64_t, BatchData& data) {
    runtime::gather_features(placed->graph, alone, data);
  });
  const double rows_s = from_disk_s(Home::host);
  return {std::max(0.0, rows_s - in_memory_s), std::max(0.0, from_disk_s(Home::disk) - rows_s)};
}

}  // namespace

std::optional<DiskBatchTimes> measure_disk_batch(const graph::Graph& graph,
                                                 const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                                 const plan::Job& job) {
  if (graph.directory.empty() || graph.features.is_sparse() || job.weighted) {
    return std::nullopt;
  }
  try {
    return measure_times(graph, placed, job);
  } catch (const base::Failure&) {  // no plan can read this store, either
    return std::nullopt;
  }
}

}  // namespace gnomon::profiles
