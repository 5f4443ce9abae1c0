#pragma once

#include <algorithm>
#include <vector>

#include "graph/epoch_order.h"
#include "kernels/device/gather.h"
#include "runtime/cache/presampling.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

/// Visits in device memory.
template <class Executor>
class VisitCounts {
 public:
  VisitCounts(Executor& executor, std::int64_t num_vertices)
      : executor_(executor), rows_(zeros(num_vertices)), lists_(zeros(num_vertices)) {}

  void add(const kernels::device::MiniBatch& batch) {
    kernels::device::count_visits(executor_, batch.vertices.data, batch.num_vertices, rows_.data);
    for (const auto& block : batch.blocks) {
      kernels::device::count_visits(executor_, batch.vertices.data, block.num_destinations, lists_.data);
    }
  }

  /// Waits for the device.
  Visits read() const { return {downloaded(rows_), downloaded(lists_)}; }

 private:
  using Counts = kernels::device::Array<std::uint32_t>;

  Counts zeros(std::int64_t count) {
    auto counts = kernels::device::make_array<std::uint32_t>(executor_, count);
    executor_.fill(counts.data, 0, static_cast<std::size_t>(count) * sizeof(std::uint32_t));
    return counts;
  }
  std::vector<std::uint32_t> downloaded(const Counts& counts) const {
    std::vector<std::uint32_t> values(static_cast<std::size_t>(counts.count));
    executor_.download(values.data(), counts.data, values.size() * sizeof(std::uint32_t));
    return values;
  }

  Executor& executor_;
  Counts rows_, lists_;
};

template <class Executor>
Visits presample(Executor& executor, kernels::device::Sampler<Executor>& sampler, std::int64_t num_vertices,
                 std::span<const graph::VertexId> train, const plan::Job& job, const base::Progress& progress,
                 std::int64_t max_batches) {
  constexpr std::int64_t epochs = 2;
  VisitCounts<Executor> counts(executor, num_vertices);
  const std::int64_t batches = graph::num_batches(std::ssize(train), job.batch_size);
  const std::int64_t distance = std::max<std::int64_t>(1, (epochs * batches + max_batches - 1) / max_batches);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto number = static_cast<std::uint64_t>(epoch);
    const auto order = graph::epoch_order(train, job.seed, number);
    for (std::int64_t batch = 0; batch < batches; batch += distance) {
      base::report(progress, "counting visits", epoch * batches + batch, epochs * batches);
      const auto seeds = graph::batch_seeds(order, job.batch_size, batch);
      counts.add(sampler.sample({job.seed, number, static_cast<std::uint64_t>(batch)}, seeds.data(),
                                std::ssize(seeds)));
    }
  }
  return counts.read();
}

}  // namespace gnomon::runtime
