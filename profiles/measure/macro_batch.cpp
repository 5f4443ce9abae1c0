#include "profiles/measure/macro_batch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/index.h"
#include "base/index_range.h"
#include "base/team.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/few_batches.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/macro/halo_structure.h"
#include "runtime/macro/macro_batch.h"
#include "runtime/macro/macro_layout.h"
#include "runtime/macro/sampled_macro.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// The memory of a graph.
struct HeldMacroBatch {
  std::shared_ptr<runtime::MacroBatch> batch;
  std::vector<graph::VertexId> seeds;
};

/// One of as many macro-batches as have the mini-batches of this measurement.
plan::Plan macro_plan(std::int64_t batches) {
  plan::Plan plan;
  plan.name = "profiler";
  plan.schedule = plan::Schedule::macro_batch;
  plan.route = plan::Route::device;
  plan.workers = 1;
  plan.macro.partitions =
      static_cast<int>(std::max<std::int64_t>(1, batches / (few_warm_ups + few_measured)));
  plan.macro.resident = 1;
  return plan;
}

/// Every 16th vertex of some ranges of a graph, which have few enough entries in their lists to take a
/// fraction of a second: the lists of a part are scattered, too.
std::vector<graph::VertexId> scattered_vertices(const graph::Graph& graph) {
  constexpr int ranges = 64;
  constexpr std::int64_t stride = 16;
  constexpr std::int64_t max_entries = (std::int64_t{1} << 23) / ranges;
  std::vector<graph::VertexId> found;
  for (int range = 0; range < ranges; ++range) {
    const auto [begin, end] = base::chunk_of(graph.num_vertices(), range, ranges);
    std::int64_t entries = 0;
    for (graph::VertexId vertex = begin; vertex < end && entries < max_entries; vertex += stride) {
      found.push_back(vertex);
      entries += graph.degree(vertex);
    }
  }
  return found;
}

}  // namespace

std::optional<SmallMacroBatch> small_macro_batch(const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                                 const plan::Job& job) {
  const std::int64_t batches = std::ssize(placed->graph.train) / job.batch_size;
  if (job.weighted || batches <= few_warm_ups + 1) {
    return std::nullopt;
  }
  runtime::SampledMacro loader(placed, job, macro_plan(batches));
  const runtime::MacroLayout layout(loader.groups(0), job, 0);
  SmallMacroBatch small{.graph = {}, .load_s = std::numeric_limits<double>::infinity()};
  std::shared_ptr<runtime::MacroBatch> batch;
  constexpr int loads = 3;  // the first ones map the memory that later ones use
  for (int load = 0; load < loads; ++load) {
    batch.reset();
    const Stopwatch watch;
    batch = loader.load(layout, 0, 0);
    small.load_s = std::min(small.load_s, watch.seconds());
  }
  const auto held = std::make_shared<const HeldMacroBatch>(
      HeldMacroBatch{batch, batch->local_seeds(layout.group(0).train)});
  const auto whole = std::ssize(held->seeds) / job.batch_size;
  small.batches = (std::ssize(held->seeds) + job.batch_size - 1) / job.batch_size;
  small.graph = batch->placed()->graph;
  small.graph.train = std::span(held->seeds).first(base::at(whole * job.batch_size));
  small.graph.storage = held;
  return small;
}

MacroBatchTimes measure_macro_batch(const graph::Graph& macro_batch, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options) {
  Bench bench(macro_batch, job, 1, device);
  if (bench.device().has_link()) {
    bench.hold_data(plan::Home::device);
  }
  bench.fuse(true);
  const auto spans = run_few(bench, {Stage::device_batch, Stage::train}, options);
  return {median_s(spans, Stage::device_batch), median_s(spans, Stage::train)};
}

std::optional<double> measure_halo_entry(const graph::Graph& graph, const AccessOptions& options) {
  if (graph.num_edges() == 0) {
    return std::nullopt;
  }
  const auto vertices = scattered_vertices(graph);
  const std::span<const graph::VertexId> own(vertices);
  base::Team team(1);
  runtime::MacroArrays arrays;
  double least_s = std::numeric_limits<double>::infinity();
  const Stopwatch whole;
  // The first macro-batches of a training map the memory that later ones use.
  constexpr int measured = 3;
  for (int run = 0; run < measured && (run == 0 || whole.seconds() < options.time_limit_s); ++run) {
    throw_if_stopped(options.stop);
    const Stopwatch watch;
    runtime::fill_halo_structure(graph, {&own, 1}, team, arrays);
    const runtime::MacroBatch batch(graph, std::move(arrays), {}, 1,
                                    [to = &arrays](runtime::MacroArrays ended) { *to = std::move(ended); });
    least_s = std::min(least_s, watch.seconds());
  }
  const auto entries = std::transform_reduce(vertices.begin(), vertices.end(), std::int64_t{0}, std::plus<>(),
                                             [&](graph::VertexId vertex) { return graph.degree(vertex); });
  return entries > 0 ? std::optional(least_s / static_cast<double>(entries)) : std::nullopt;
}

}  // namespace gnomon::profiles
