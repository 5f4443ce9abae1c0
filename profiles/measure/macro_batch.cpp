#include "profiles/measure/macro_batch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/index_range.h"
#include "base/median.h"
#include "base/team.h"
#include "base/usable.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/macro/halo_structure.h"
#include "runtime/macro/macro_batch.h"
#include "runtime/macro/macro_layout.h"
#include "runtime/macro/sampled_macro.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

constexpr std::int64_t unmeasured_of_macro_batch = 2;
constexpr std::int64_t measured_of_macro_batch = 14;
constexpr std::int64_t at_once_of_macro_batch = 4;  ///< between two looks at the clock

/// One of as many macro-batches as have the mini-batches of this measurement.
plan::Plan macro_plan(std::int64_t batches) {
  plan::Plan plan;
  plan.name = "profiler";
  plan.schedule = plan::Schedule::macro_batch;
  plan.route = plan::Route::device;
  plan.workers = base::usable_cores();
  plan.macro.partitions = static_cast<int>(
      std::max<std::int64_t>(1, batches / (unmeasured_of_macro_batch + measured_of_macro_batch)));
  plan.macro.resident = 1;
  return plan;
}

double median_s(const std::vector<schedule::StageSpan>& spans, Stage stage) {
  std::vector<double> seconds;
  for (const auto& span : spans) {
    if (span.stage == stage && span.batch >= unmeasured_of_macro_batch) {
      seconds.push_back(span.end_s - span.begin_s);
    }
  }
  return base::median(seconds);
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

std::optional<MacroBatchTimes> measure_macro_batch(const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                                   const plan::Job& job, const runtime::DeviceOptions& device,
                                                   const AccessOptions& options) {
  const std::int64_t batches = std::ssize(placed->graph.train) / job.batch_size;
  if (job.weighted || batches <= unmeasured_of_macro_batch + 1) {
    return std::nullopt;
  }
  const Stopwatch watch;
  runtime::SampledMacro loader(placed, job, macro_plan(batches));
  const runtime::MacroLayout layout(loader.groups(0), job, 0);
  const auto macro = loader.load(layout, 0, 0);
  const auto seeds = macro->local_seeds(layout.group(0).train);
  auto graph = macro->placed()->graph;
  graph.train = seeds;
  Bench bench(graph, job, 1, device);
  if (bench.device().has_link()) {
    bench.hold_data(plan::Home::device);
  }
  bench.fuse(true);
  std::vector<std::int64_t> order(static_cast<std::size_t>(
      std::min(std::ssize(seeds) / job.batch_size, unmeasured_of_macro_batch + measured_of_macro_batch)));
  std::iota(order.begin(), order.end(), 0);
  bench.begin(0, order);
  std::vector<schedule::StageSpan> spans;
  for (std::int64_t first = 0; first < std::ssize(order); first += at_once_of_macro_batch) {
    throw_if_stopped(options.stop);
    if (first > 0 && watch.seconds() >= options.time_limit_s) {
      break;
    }
    const auto count = std::min(at_once_of_macro_batch, std::ssize(order) - first);
    const auto more = bench.in_turn({Stage::device_batch, Stage::train}, first, count);
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return MacroBatchTimes{median_s(spans, Stage::device_batch), median_s(spans, Stage::train)};
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
                                    [&](runtime::MacroArrays ended) { arrays = std::move(ended); });
    least_s = std::min(least_s, watch.seconds());
  }
  const auto entries = std::transform_reduce(vertices.begin(), vertices.end(), std::int64_t{0}, std::plus<>(),
                                             [&](graph::VertexId vertex) { return graph.degree(vertex); });
  return entries > 0 ? std::optional(least_s / static_cast<double>(entries)) : std::nullopt;
}

}  // namespace gnomon::profiles
