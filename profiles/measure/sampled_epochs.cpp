#include "profiles/measure/sampled_epochs.h"

#include <algorithm>
#include <iterator>

#include "base/index.h"
#include "base/median.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/placement.h"

namespace gnomon::profiles {
namespace {

using base::at;
using graph::VertexId;

/// Samples and times mini-batches on one thread.
class Sampling {
 public:
  Sampling(const graph::Graph& graph, const plan::Job& job)
      : graph_(graph),
        job_(job),
        sampler_(kernels::cpu::resident_copy_if_fits(graph, runtime::draws_of(graph, job)), job.fanouts) {}

  std::int64_t batches() const { return graph::num_batches(std::ssize(graph_.train), job_.batch_size); }

  void run(std::uint64_t epoch, std::int64_t batch, EpochCounts& counts) {
    if (orders_[epoch % 2].empty()) {
      orders_[epoch % 2] = graph::epoch_order(graph_.train, job_.seed, epoch);
    }
    const auto seeds = graph::batch_seeds(orders_[epoch % 2], job_.batch_size, batch);
    const Stopwatch watch;
    sampler_.sample({job_.seed, epoch, static_cast<std::uint64_t>(batch)}, seeds, batch_);
    times_s_.push_back(watch.seconds());
    counts.add(batch_);
  }

  double median_s() const { return base::median(times_s_); }

 private:
  const graph::Graph& graph_;
  const plan::Job& job_;
  kernels::cpu::Sampler sampler_;
  std::vector<VertexId> orders_[2];
  kernels::MiniBatch batch_;
  std::vector<double> times_s_;
};

}  // namespace

std::int64_t BatchCounts::edges() const {
  std::int64_t sum = 0;
  for (const auto& hop : hops) {
    sum += hop.edges;
  }
  return sum;
}

EpochCounts::EpochCounts(std::int64_t vertices)
    : rows(at(vertices)), lists(at(vertices)), destinations(at(vertices)), edges(at(vertices)) {}

void EpochCounts::add(const kernels::MiniBatch& batch) {
  for (const VertexId vertex : batch.vertices) {
    ++rows[at(vertex)];
  }
  auto& counts = batches.emplace_back();
  counts.vertices = std::ssize(batch.vertices);
  for (const auto& block : batch.blocks) {
    for (std::int64_t i = 0; i < block.num_destinations; ++i) {
      ++lists[at(batch.vertices[at(i)])];
    }
    counts.hops.push_back({block.num_destinations, block.num_edges()});
  }
  const auto& bottom = batch.blocks.back();
  for (std::int64_t i = 0; i < bottom.num_destinations; ++i) {
    const auto vertex = at(batch.vertices[at(i)]);
    ++destinations[vertex];
    edges[vertex] += static_cast<std::int32_t>(bottom.indptr[at(i) + 1] - bottom.indptr[at(i)]);
  }
}

std::vector<BatchCounts> SampledEpochs::full_batches(const plan::Job& job) const {
  std::vector<BatchCounts> full;
  const auto is_full = [&](const BatchCounts& batch) {
    return batch.hops.front().destinations == job.batch_size;
  };
  for (const auto* epoch : {&first, &second}) {
    std::copy_if(epoch->batches.begin(), epoch->batches.end(), std::back_inserter(full), is_full);
  }
  return full;
}

SampledEpochs sample_two_epochs(const graph::Graph& graph, const plan::Job& job,
                                const AccessOptions& options) {
  Sampling sampling(graph, job);
  SampledEpochs epochs{EpochCounts(graph.num_vertices()), EpochCounts(graph.num_vertices()), 0};
  const Stopwatch watch;
  for (std::int64_t batch = 0; batch < sampling.batches(); ++batch) {
    throw_if_stopped(options.stop);
    base::report(options.progress, "sampling two epochs", batch, sampling.batches());
    if (batch > 0 && watch.seconds() >= options.time_limit_s) {
      break;
    }
    sampling.run(0, batch, epochs.first);
    sampling.run(1, batch, epochs.second);
  }
  epochs.batch_s = sampling.median_s();
  return epochs;
}

}  // namespace gnomon::profiles
