#include "profiles/measure/thin_batches.h"

#include <algorithm>
#include <iterator>

#include "profiles/measure/few_batches.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// A list of which all neighbours are drawn counts as the average degree.
plan::Job with_smaller_fanouts(plan::Job job, const graph::Graph& graph, int divisor) {
  const auto degree = static_cast<int>(graph.num_edges() / std::max<std::int64_t>(1, graph.num_vertices()));
  for (int& fanout : job.fanouts) {
    fanout = std::max(1, (fanout > 0 ? fanout : degree) / divisor);
  }
  return job;
}

double ratio_of(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

}  // namespace

std::vector<ThinBatch> measure_thin(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options) {
  constexpr int divisors[] = {8, 2};
  auto of_each = options;
  of_each.time_limit_s /= std::size(divisors);
  Bench usual(graph, job, 1, device);
  const auto usual_size = first_size(usual, {Stage::cpu_batch, Stage::transfer});
  std::vector<ThinBatch> batches;
  for (const int divisor : divisors) {
    Bench thin(graph, with_smaller_fanouts(job, graph, divisor), 1, device);
    const auto size = first_size(thin, {Stage::cpu_batch, Stage::transfer});
    ThinBatch batch{.edges = ratio_of(size.edges, usual_size.edges),
                    .vertices = std::min(1.0, ratio_of(size.vertices, usual_size.vertices))};
    if (batch.edges <= (batches.empty() ? 0 : batches.back().edges) || batch.edges >= 1) {
      continue;
    }
    const auto [thin_spans, usual_spans] =
        run_beside(thin, usual, {Stage::cpu_batch, Stage::transfer, Stage::train}, of_each);
    batch.cpu_batch =
        lower_quartile_s(thin_spans, Stage::cpu_batch) / lower_quartile_s(usual_spans, Stage::cpu_batch);
    batch.train = lower_quartile_s(thin_spans, Stage::train) / lower_quartile_s(usual_spans, Stage::train);
    batches.push_back(batch);
  }
  return batches;
}

}  // namespace gnomon::profiles
