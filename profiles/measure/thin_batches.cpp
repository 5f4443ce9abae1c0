#include "profiles/measure/thin_batches.h"

#include <algorithm>
#include <iterator>

#include "profiles/measure/few_batches.h"
#include "profiles/measure/ratio.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// A list of which all neighbours are drawn counts as the average degree.
plan::Job with_less_fanouts(plan::Job job, const graph::Graph& graph, int divisor) {
  const auto degree = static_cast<int>(graph.num_edges() / std::max<std::int64_t>(1, graph.num_vertices()));
  for (int& fanout : job.fanouts) {
    fanout = std::max(1, (fanout > 0 ? fanout : degree) / divisor);
  }
  return job;
}

/// Prepares, copies and trains one mini-batch after another of one job.
class OneJob {
 public:
  OneJob(const graph::Graph& graph, const plan::Job& job, const runtime::DeviceOptions& device)
      : bench_(graph, job, 1, device) {
    bench_.begin(0, {0});
    bench_.in_turn({Stage::cpu_batch, Stage::transfer}, 0);
    size_ = bench_.device_slot_size(0);
    bench_.in_turn({Stage::train}, 0);
  }

  void run(const AccessOptions& options) {
    const auto spans = run_few(bench_, {Stage::cpu_batch, Stage::transfer, Stage::train}, options);
    cpu_batch_s_ = median_s(spans, Stage::cpu_batch);
    train_s_ = median_s(spans, Stage::train);
  }

  const runtime::BatchSize& size() const { return size_; }  ///< of the first mini-batch
  double cpu_batch_s() const { return cpu_batch_s_; }       ///< in the last run, as train_s()
  double train_s() const { return train_s_; }

 private:
  Bench bench_;
  runtime::BatchSize size_;
  double cpu_batch_s_ = 0, train_s_ = 0;
};

double ratio_of(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

/// In turn, so that both see the same state of the machine.
ThinBatch compare(OneJob& thin, OneJob& usual, const AccessOptions& options) {
  constexpr int rounds = 3;
  auto of_each = options;
  of_each.time_limit_s /= 2 * rounds;
  Ratio cpu_batch;
  Ratio train;
  for (int round = 0; round < rounds; ++round) {
    usual.run(of_each);
    thin.run(of_each);
    cpu_batch.add(thin.cpu_batch_s() / usual.cpu_batch_s());
    train.add(thin.train_s() / usual.train_s());
  }
  return {ratio_of(thin.size().edges, usual.size().edges),
          ratio_of(thin.size().vertices, usual.size().vertices), *cpu_batch.value(), *train.value()};
}

}  // namespace

std::vector<ThinBatch> measure_thin(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options) {
  constexpr int divisors[] = {8, 2};
  auto of_each = options;
  of_each.time_limit_s /= std::size(divisors);
  OneJob usual(graph, job, device);
  std::vector<ThinBatch> batches;
  for (const int divisor : divisors) {
    OneJob thin(graph, with_less_fanouts(job, graph, divisor), device);
    const double least = batches.empty() ? 0 : batches.back().edges;
    const double edges = ratio_of(thin.size().edges, usual.size().edges);
    if (edges > least && edges < 1) {
      batches.push_back(compare(thin, usual, of_each));
    }
  }
  return batches;
}

}  // namespace gnomon::profiles
