#include "profiles/measure/macro_batch.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/usable.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
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

}  // namespace gnomon::profiles
