#include "profiles/measure/hot_batch.h"

#include "profiles/measure/few_batches.h"
#include "profiles/measure/ratio.h"
#include "profiles/measure/refresh.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// The default of plan::Embeddings, and of the presets.
constexpr double hot_ratio = 0.2;

/// The edges that are sampled for the first mini-batch of an epoch.
double sampled_edges(Bench& bench) {
  bench.begin(0, {0});
  bench.in_turn({Stage::device_batch}, 0);
  const auto edges = static_cast<double>(bench.device_slot_size(0).edges);
  bench.in_turn({Stage::train}, 0);
  return edges;
}

}  // namespace

std::optional<HotBatch> measure_hot(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options) {
  if (!reuses_hot_rows(job)) {
    return std::nullopt;
  }
  auto one_device = device;
  one_device.devices = 1;
  Bench usual(graph, job, 1, one_device);
  Bench hot(graph, job, 1, one_device);
  hot.reuse_hot(hot_ratio);
  const double edges = sampled_edges(hot) / sampled_edges(usual);
  if (edges >= 1) {
    return std::nullopt;
  }
  constexpr int rounds = 3;  // in turn, so that both see the same state of the machine
  auto of_each = options;
  of_each.time_limit_s /= 2 * rounds;
  Ratio device_batch;
  Ratio train;
  for (int round = 0; round < rounds; ++round) {
    const auto usual_spans = run_few(usual, {Stage::device_batch, Stage::train}, of_each);
    const auto hot_spans = run_few(hot, {Stage::device_batch, Stage::train}, of_each);
    const auto add = [&](Ratio& ratio, Stage stage) {
      ratio.add(median_s(hot_spans, stage) / median_s(usual_spans, stage));
    };
    add(device_batch, Stage::device_batch);
    add(train, Stage::train);
  }
  return HotBatch{edges, *device_batch.value(), *train.value()};
}

}  // namespace gnomon::profiles
