#include "profiles/measure/hot_batch.h"

#include <algorithm>
#include <vector>

#include "profiles/measure/few_batches.h"
#include "profiles/measure/refresh.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// The default of plan::Embeddings, and of the presets.
constexpr double hot_ratio = 0.2;

}  // namespace

std::optional<HotBatch> measure_hot(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options) {
  if (!reuses_hot_rows(job)) {
    return std::nullopt;
  }
  auto one_device = device;
  one_device.devices = 1;
  // One bench for both, as the memory of another may be faster.
  Bench bench(graph, job, 1, one_device);
  const auto all = first_size(bench, {Stage::device_batch});
  bench.reuse_hot(hot_ratio);
  const auto sampled = first_size(bench, {Stage::device_batch});
  const double edges =
      static_cast<double>(sampled.edges) / static_cast<double>(std::max<std::int64_t>(1, all.edges));
  if (edges >= 1) {
    return std::nullopt;
  }
  constexpr int rounds = 4;  // in turn, so that both see the same state of the machine
  auto of_each = options;
  of_each.time_limit_s /= 2 * rounds;
  std::vector<schedule::StageSpan> usual, hot;
  for (int round = 0; round < rounds; ++round) {
    for (auto* spans : {&hot, &usual}) {
      bench.reuse_hot(spans == &hot ? hot_ratio : 0);
      const auto more = run_few(bench, {Stage::device_batch, Stage::train}, of_each);
      spans->insert(spans->end(), more.begin(), more.end());
    }
  }
  const auto ratio = [&](Stage stage) {
    return lower_quartile_s(hot, stage) / lower_quartile_s(usual, stage);
  };
  return HotBatch{edges, ratio(Stage::device_batch), ratio(Stage::train)};
}

}  // namespace gnomon::profiles
