#include "profiles/measure/one_hop.h"

#include <algorithm>

#include "base/usable.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/few_batches.h"
#include "runtime/training/history_bytes.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// To write the embeddings of a large graph once would exceed their share of the profiling time.
bool is_affordable(const graph::Graph& graph, const plan::Job& job) {
  constexpr double share_of_memory = 0.25;
  constexpr double max_bytes = 0x1p32;
  plan::Plan plan;
  plan.embeddings.reuse = plan::Reuse::all;
  const auto bytes = runtime::history_bytes(plan, job, graph.num_vertices());
  return static_cast<double>(bytes) <= std::min(max_bytes, share_of_memory * base::available_memory_bytes());
}

}  // namespace

std::optional<OneHopTimes> measure_one_hop(const graph::Graph& graph, const plan::Job& job,
                                           const runtime::DeviceOptions& device,
                                           const AccessOptions& options) {
  if (!is_affordable(graph, job)) {
    return std::nullopt;
  }
  auto one_device = device;
  one_device.devices = 1;
  Bench bench(graph, job, 1, one_device, plan::Reuse::all);
  const auto spans = run_few(bench, {Stage::cpu_batch, Stage::transfer, Stage::train}, options);
  return OneHopTimes{median_s(spans, Stage::cpu_batch), median_s(spans, Stage::train)};
}

}  // namespace gnomon::profiles
