#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "kernels/cpu/sample/worker_memory.h"
#include "runtime/batch/batch_data.h"
#include "runtime/stages.h"
#include "tests/allocations/counting.h"

// A worker allocates nothing after its first mini-batches, and what it holds is bounded.

namespace gnomon::runtime {
namespace {

using graph::batch_seeds;

graph::Graph skewed() {
  graph::Rmat options;
  options.scale = 13;
  options.edge_factor = 8;
  options.feature_columns = 24;
  options.seed = 3;
  return graph::generate_in_memory(options);
}

graph::Graph even() {
  graph::PlantedPartition options;
  options.vertices = 9000;
  options.average_degree = 30;
  options.classes = 4;
  options.feature_columns = 24;
  options.seed = 4;
  return graph::generate_in_memory(options);
}

struct Case {
  const char* name;
  graph::Graph (*graph)();
  std::vector<int> fanouts;
  int batch_size;
};

void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

class SteadyState : public ::testing::TestWithParam<Case> {
 protected:
  SteadyState() {
    job_.fanouts = GetParam().fanouts;
    job_.batch_size = GetParam().batch_size;
    job_.seed = 7;
  }
  kernels::cpu::BatchSizes largest_batch() const {
    const auto limits = kernels::cpu::limits_of(kernels::cpu::view_of(graph_));
    return kernels::cpu::largest_batch(limits, job_.batch_size, job_.fanouts);
  }
  std::int64_t max_batch_bytes() const {
    return kernels::cpu::max_batch_bytes(largest_batch(), graph_.features.row_bytes());
  }
  void check_sampler(kernels::cpu::Sampler& sampler, std::int64_t most_bytes);

  graph::Graph graph_ = GetParam().graph();
  plan::Job job_;
};

/// Its threads count what each of them allocates by itself; what the caller sees is what a step returns to.
void SteadyState::check_sampler(kernels::cpu::Sampler& sampler, std::int64_t most_bytes) {
  BatchData data;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(sampler.team().size()));
  const auto allocations = [&] {
    sampler.team().step(
        [&](int member) { counts[static_cast<std::size_t>(member)] = allocations_of_this_thread(); });
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const auto batches = graph::num_batches(static_cast<std::int64_t>(graph_.train.size()), job_.batch_size);
  ASSERT_GT(batches, 5);
  constexpr std::int64_t warm_up = 3;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    const auto seeds = graph::epoch_order(graph_.train, job_.seed, epoch);
    for (std::int64_t batch = 0; batch < batches; ++batch) {  // the last one of an epoch is a small one
      const auto before = allocations();
      prepare_batch(graph_, sampler, {job_.seed, epoch, static_cast<std::uint64_t>(batch)},
                    batch_seeds(seeds, job_.batch_size, batch), data);
      const auto allocated = allocations() - before;
      if (epoch == 0 && batch == 0) {
        EXPECT_GT(allocated, 0);  // the count works
      }
      if (epoch > 0 || batch >= warm_up) {
        ASSERT_EQ(allocated, 0) << "epoch " << epoch << ", batch " << batch;
      }
      EXPECT_LE(data.bytes(), max_batch_bytes());
    }
  }
  EXPECT_LE(sampler.bytes(), most_bytes);
}

TEST_P(SteadyState, OfASamplerAndASlot) {
  kernels::cpu::Sampler sampler(kernels::cpu::resident_copy(graph_), job_.fanouts);
  check_sampler(sampler, kernels::cpu::max_sampler_bytes(largest_batch().num_vertices(), job_.fanouts));
}

TEST_P(SteadyState, OfThreadsThatShareABatch) {
  kernels::cpu::Sampler sampler(kernels::cpu::resident_copy(graph_), job_.fanouts,
                                kernels::cpu::EdgeIds::omit, {3, {}});
  check_sampler(sampler, kernels::cpu::max_split_sampler_bytes(largest_batch(), job_.fanouts, 3));
}

/// Two workers and the copying thread, one batch of each worker on its way at a time.
TEST_P(SteadyState, OfWorkersThatHandOver) {
  plan::Plan plan;
  plan.workers = 2;
  plan.handover_copies = 1;
  Stages stages(graph_, job_, plan, [](const nn::TensorBatch&, std::int64_t, int) {});
  std::vector<std::int64_t> order(static_cast<std::size_t>(stages.batches()));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    stages.begin_epoch(epoch, order);
    std::int64_t allocated = 0;
    for (std::int64_t position = 0; position + 1 < stages.batches(); position += 2) {
      for (int worker = 0; worker < 2; ++worker) {
        std::thread([&] {
          const auto before = allocations_of_this_thread();
          stages.cpu_batch(position + worker, worker);
          allocated += allocations_of_this_thread() - before;
        }).join();
      }
      for (int worker = 0; worker < 2; ++worker) {
        const auto before = allocations_of_this_thread();
        stages.transfer(position + worker);
        allocated += allocations_of_this_thread() - before;
        stages.train(position + worker);  // may: it makes tensors
      }
    }
    if (epoch == 0) {
      EXPECT_GT(allocated, 0);
    } else {
      EXPECT_EQ(allocated, 0) << "epoch " << epoch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, SteadyState,
                         ::testing::Values(Case{"skewed", skewed, {15, 10, 5}, 64},
                                           Case{"even", even, {15, 10, 5}, 64},
                                           Case{"skewed_small", skewed, {4, 4}, 16},
                                           Case{"skewed_one_hop", skewed, {8}, 128},
                                           Case{"even_all_neighbours", even, {-1, 3}, 32}),
                         [](const auto& named) { return std::string(named.param.name); });

}  // namespace
}  // namespace gnomon::runtime
