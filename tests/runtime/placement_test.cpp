#include "runtime/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "base/cores.h"
#include "base/interleave.h"
#include "tests/runtime/test_runs.h"

// Where workers run and memory lies; what is trained is the same.

namespace gnomon::runtime {
namespace {

std::vector<int> numbers_of(const std::vector<base::Core>& cores) {
  std::vector<int> numbers;
  for (const auto& core : cores) {
    numbers.push_back(core.number);
  }
  return numbers;
}

/// Trains; returns the weights' hash and, in `seen`, the sets of cores that threads preparing batches might
/// run on.
std::string train_on(const graph::Graph& graph, const plan::Plan& plan, std::set<std::vector<int>>& seen) {
  std::mutex mutex;
  TrainOptions options;
  options.job = small_job(plan::ModelKind::sage);
  options.plan = plan;
  options.before_stage = [&](schedule::Stage stage, std::int64_t) {
    if (stage == schedule::Stage::cpu_batch) {
      const std::lock_guard lock(mutex);
      seen.insert(numbers_of(base::allowed_cores()));
    }
  };
  return train(graph, options).weights_hash;
}

TEST(Placement, PinnedWorkersRunOnOneCoreEachAndTrainTheSame) {
  const auto graph = test::planted_graph(1500, 32);
  auto plan = plan_of(plan::Schedule::pipelined, plan::Route::cpu, 2);
  std::set<std::vector<int>> unpinned;
  const auto expected = train_on(graph, plan, unpinned);
  EXPECT_EQ(unpinned, (std::set<std::vector<int>>{numbers_of(base::allowed_cores())}));

  plan.pinning = plan::Pinning::cores;
  std::set<std::vector<int>> pinned;
  EXPECT_EQ(train_on(graph, plan, pinned), expected);
  const auto order = base::pinning_order(base::allowed_cores());
  ASSERT_FALSE(pinned.empty());
  for (const auto& cores : pinned) {
    ASSERT_EQ(cores.size(), 1U);
    EXPECT_TRUE(cores.front() == order[0] || cores.front() == order[1 % order.size()]) << cores.front();
  }
  plan.worker_threads = 2;
  EXPECT_EQ(train_on(graph, plan, pinned), expected) << "threads that share batches";
  // The thread that trains and the one that calls are not pinned.
  EXPECT_EQ(numbers_of(base::allowed_cores()), *unpinned.begin());
}

TEST(Placement, InterleavedMemoryTrainsTheSame) {
  const auto graph = test::planted_graph(1500, 32);
  auto plan = plan_of(plan::Schedule::pipelined, plan::Route::cpu, 1);
  std::set<std::vector<int>> ignored;
  const auto expected = train_on(graph, plan, ignored);
  plan.placement = plan::Placement::interleave;
  EXPECT_EQ(train_on(graph, plan, ignored), expected);
}

TEST(Placement, CopiesOnlyWhereThereAreSeveralNodes) {
  const auto graph = test::planted_graph(300, 8);
  const auto nodes = base::memory_nodes();
  if (nodes.empty()) {
    GTEST_SKIP() << "the system tells no nodes of memory";
  }
  EXPECT_EQ(place(graph, kernels::cpu::Draws::uniform, plan::Placement::interleave, {nodes.front()})
                .graph.features.data,
            graph.features.data);
  const std::vector<int> two{nodes.front(), nodes.back()};
  EXPECT_EQ(place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, two).graph.features.data,
            graph.features.data);

  const auto placed = place(graph, kernels::cpu::Draws::uniform, plan::Placement::interleave, two);
  ASSERT_NE(placed.graph.features.data, graph.features.data);
  EXPECT_EQ(std::memcmp(placed.graph.features.data, graph.features.data,
                        static_cast<std::size_t>(graph.features.rows * graph.features.row_bytes())),
            0);
  EXPECT_TRUE(std::ranges::equal(placed.topology.indptr, graph.indptr));
  EXPECT_TRUE(std::ranges::equal(placed.topology.narrow_indices, graph.indices,
                                 [](std::uint32_t a, graph::VertexId b) { return a == b; }));
}

}  // namespace
}  // namespace gnomon::runtime
