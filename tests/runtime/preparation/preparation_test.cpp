#include "runtime/preparation/preparation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/runtime/device_contract.h"
#include "tests/runtime/preparation/test_device.h"

namespace gnomon::runtime {
namespace {

struct TestWorld {
  static std::string why_not() { return ""; }
  static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                      const plan::Plan& plan) {
    auto device = std::make_unique<TestDevice>(job);
    device->take_plan(plan, std::move(graph));
    return device;
  }
};

}  // namespace

// What every device with memory of its own shares fulfils the contract.
INSTANTIATE_TYPED_TEST_SUITE_P(WithMemoryOfItsOwn, DeviceContract, TestWorld);

namespace {

class PreparationTest : public ::testing::Test {
 protected:
  PreparationTest() { plan_ = plan_of(plan::Schedule::sequential, plan::Route::device, 0); }

  std::int64_t batches() const {
    return graph::num_batches(std::ssize(graph_->graph.train), job_.batch_size);
  }
  void prepare_epoch(std::uint64_t epoch) {
    const auto order = graph::epoch_order(graph_->graph.train, job_.seed, epoch);
    for (std::int64_t batch = 0; batch < batches(); ++batch) {
      (void)preparation_.prepare({job_.seed, epoch, static_cast<std::uint64_t>(batch)},
                                 graph::batch_seeds(order, job_.batch_size, batch));
    }
  }
  void cache(plan::CachePolicy policy, double budget) {
    plan_.cache.policy = policy;
    plan_.cache.topology = true;
    plan_.cache.budget = budget;
    preparation_.take_plan(plan_, graph_);
    preparation_.fill_due_cache();
  }

  plan::Job job_ = small_job(plan::ModelKind::sage);
  plan::Plan plan_;
  std::shared_ptr<const PlacedGraph> graph_ = std::make_shared<const PlacedGraph>(
      place(test::planted_graph(1500, 32), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  TestHardware hardware_;
  Preparation<TestHardware> preparation_{hardware_, job_, {}};
};

TEST_F(PreparationTest, PlacesTheGraphWhenItTakesThePlanAndNotInAStage) {
  preparation_.take_plan(plan_, graph_);
  const auto mappings = hardware_.mappings;
  EXPECT_GT(mappings, 0);
  prepare_epoch(0);
  EXPECT_EQ(hardware_.mappings, mappings);
}

TEST_F(PreparationTest, KeepsTheGraphAndItsCachesWhenOnlyTheShareChanges) {
  cache(plan::CachePolicy::presample, 0.001);
  const auto mappings = hardware_.mappings;
  for (const double share : {0.5, 0.25, 0.0}) {
    plan_.prepare_share = share;
    preparation_.take_plan(plan_, graph_);
    EXPECT_EQ(hardware_.shares.back(), share > 0 ? share : 1);
    EXPECT_FALSE(preparation_.is_cache_due());
    prepare_epoch(0);
    EXPECT_GT(preparation_.take_cache_use().row_hits, 0);
  }
  EXPECT_EQ(hardware_.mappings, mappings);
  const auto releases = hardware_.releases;
  plan_.features = plan::Home::device;
  preparation_.take_plan(plan_, graph_);
  EXPECT_GT(hardware_.releases, releases);
  EXPECT_GT(hardware_.mappings, mappings);  // the lists'
  EXPECT_TRUE(preparation_.is_cache_due());
}

TEST_F(PreparationTest, PlacesNothingForAPlanThatReadsNothingThere) {
  preparation_.take_plan(sequential_plan(), graph_);
  EXPECT_EQ(hardware_.mappings, 0);
  EXPECT_EQ(preparation_.take_cache_use(), CacheUse{});
}

TEST_F(PreparationTest, FillsCachesOnceAndDropsThemForAPlanWithout) {
  preparation_.take_plan(plan_, graph_);
  EXPECT_FALSE(preparation_.is_cache_due());
  plan_.cache.policy = plan::CachePolicy::out_degree;
  preparation_.take_plan(plan_, graph_);
  EXPECT_TRUE(preparation_.is_cache_due());
  preparation_.fill_due_cache();
  EXPECT_FALSE(preparation_.is_cache_due());
  prepare_epoch(0);
  EXPECT_GT(preparation_.take_cache_use().rows, 0);
  plan_.cache.policy = plan::CachePolicy::none;
  preparation_.take_plan(plan_, graph_);
  prepare_epoch(0);
  EXPECT_EQ(preparation_.take_cache_use(), CacheUse{});
}

/// What a step has taken stays free once more, with its reserve.
TEST_F(PreparationTest, CachesLeaveRoomForRecordedSteps) {
  constexpr std::int64_t peak_bytes = 9 << 20;
  const std::int64_t tables = 2 * 4 * graph_->graph.num_vertices();
  plan_.cache.policy = plan::CachePolicy::out_degree;
  const auto room = [&](bool graphs) {
    plan_.graphs = graphs;
    hardware_.memory = {.peak_bytes = 0, .usable_bytes = 32 << 20};
    Preparation<TestHardware> preparation(hardware_, job_, {});
    preparation.take_plan(plan_, graph_);
    hardware_.memory.peak_bytes = peak_bytes;
    return preparation.cache_room();
  };
  const auto left_by = [&](int steps) {
    return (32 << 20) - tables - static_cast<std::int64_t>((1 + plan::cache_reserve) * steps * peak_bytes);
  };
  EXPECT_EQ(room(false), left_by(1));
  EXPECT_EQ(room(true), left_by(2));
}

TEST_F(PreparationTest, CachesTakeTheirShareOfWhatTrainingLeaves) {
  const std::int64_t vertices = graph_->graph.num_vertices();
  const std::int64_t row_bytes = graph_->graph.features.row_bytes();
  // At first training leaves nothing, then room for a third of the rows besides their tables.
  constexpr std::int64_t peak_bytes = 8 << 20;
  hardware_.memory = {.peak_bytes = peak_bytes,
                      .usable_bytes = static_cast<std::int64_t>((1 + plan::cache_reserve) * peak_bytes)};
  plan_.cache.policy = plan::CachePolicy::presample;
  preparation_.take_plan(plan_, graph_);
  preparation_.fill_due_cache();
  prepare_epoch(0);
  EXPECT_EQ(preparation_.take_cache_use(), CacheUse{});
  hardware_.memory.usable_bytes += 2 * 4 * vertices + 2 * (vertices / 3) * row_bytes;
  plan_.cache.budget = 0.5;
  preparation_.take_plan(plan_, graph_);
  preparation_.fill_due_cache();
  prepare_epoch(0);
  const auto use = preparation_.take_cache_use();

  std::vector<std::int64_t> visits(static_cast<std::size_t>(vertices)), first_epoch(visits.size());
  kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = graph::epoch_order(graph_->graph.train, job_.seed, epoch);
    for (std::int64_t batch = 0; batch < batches(); ++batch) {
      kernels::MiniBatch sampled;
      sampler.sample({job_.seed, epoch, static_cast<std::uint64_t>(batch)},
                     graph::batch_seeds(order, job_.batch_size, batch), sampled);
      for (const auto vertex : sampled.vertices) {
        ++visits[static_cast<std::size_t>(vertex)];
        first_epoch[static_cast<std::size_t>(vertex)] += epoch == 0 ? 1 : 0;
      }
    }
  }
  std::vector<std::size_t> hottest(visits.size());
  std::iota(hottest.begin(), hottest.end(), std::size_t{0});
  std::stable_sort(hottest.begin(), hottest.end(),
                   [&](std::size_t a, std::size_t b) { return visits[a] > visits[b]; });
  std::int64_t hits = 0;
  for (std::int64_t i = 0; i < vertices / 3; ++i) {
    hits += first_epoch[hottest[static_cast<std::size_t>(i)]];
  }
  EXPECT_EQ(use.rows, std::accumulate(first_epoch.begin(), first_epoch.end(), std::int64_t{0}));
  EXPECT_EQ(use.row_hits, hits);
}

TEST_F(PreparationTest, CachesShrinkUntilTheyAreGone) {
  EXPECT_FALSE(preparation_.shrink_cache());
  cache(plan::CachePolicy::out_degree, 0.001);
  prepare_epoch(0);
  auto hits = preparation_.take_cache_use().row_hits;
  int shrunk = 0;
  for (; preparation_.shrink_cache(); ++shrunk) {
    EXPECT_TRUE(preparation_.is_cache_due());
    prepare_epoch(0);
    EXPECT_EQ(preparation_.take_cache_use(), CacheUse{}) << "no cache meanwhile";
    preparation_.fill_due_cache();
    prepare_epoch(0);
    const auto now = preparation_.take_cache_use().row_hits;
    EXPECT_LE(now, hits);
    hits = now;
  }
  EXPECT_GE(shrunk, 1);
  EXPECT_LE(shrunk, 10);
  EXPECT_EQ(hits, 0);
  cache(plan::CachePolicy::presample, 0.001);
  prepare_epoch(0);
  EXPECT_GT(preparation_.take_cache_use().row_hits, 0) << "another plan's cache has its own size";
}

TEST_F(PreparationTest, CachesThatDrawsOrTrainingReadDoNotShrink) {
  plan_.fused = true;
  cache(plan::CachePolicy::out_degree, 0.001);
  EXPECT_FALSE(preparation_.shrink_cache());
}

TEST_F(PreparationTest, CachesAreDueAgainForAPlanThatTakesMoreMemory) {
  plan_.schedule = plan::Schedule::pipelined;
  plan_.device_buffer = 2;
  cache(plan::CachePolicy::out_degree, 0.001);
  plan_.device_buffer = 1;
  preparation_.take_plan(plan_, graph_);
  EXPECT_FALSE(preparation_.is_cache_due());
  plan_.device_buffer = 3;
  preparation_.take_plan(plan_, graph_);
  EXPECT_TRUE(preparation_.is_cache_due());
  preparation_.fill_due_cache();
  plan_.graphs = true;
  preparation_.take_plan(plan_, graph_);
  EXPECT_TRUE(preparation_.is_cache_due());
}

TEST(RepeatsTraining, OnlyIfAStepLeavesNothingBehind) {
  const auto job = small_job(plan::ModelKind::sage);
  auto normalised = job;
  normalised.norm = plan::Norm::batch;
  auto plan = sequential_plan();
  EXPECT_TRUE(repeats_training(plan, job));
  EXPECT_FALSE(repeats_training(plan, normalised)) << "running statistics";
  plan.graphs = true;
  EXPECT_FALSE(repeats_training(plan, job));
  plan = sequential_plan();
  plan.embeddings.reuse = plan::Reuse::all;
  EXPECT_FALSE(repeats_training(plan, job));
}

TEST_F(PreparationTest, MeasuresWhatEntriesSaveAndGoesOnPreparing) {
  cache(plan::CachePolicy::value_weight, 0.001);
  prepare_epoch(0);
  const auto use = preparation_.take_cache_use();
  EXPECT_GT(use.row_hits + use.list_hits, 0);
}

TEST(PreparationOfPlans, ReadsTheGraphWhereAStageDoes) {
  auto plan = sequential_plan();
  EXPECT_FALSE(reads_graph(plan));
  plan.cache.policy = plan::CachePolicy::presample;
  EXPECT_FALSE(reads_cache(plan));
  plan.gather = plan::Gather::trainer;
  EXPECT_TRUE(reads_graph(plan));
  EXPECT_TRUE(reads_cache(plan));
  plan.route = plan::Route::device;
  plan.gather = plan::Gather::sampler;
  EXPECT_TRUE(reads_cache(plan));
  plan.cache.policy = plan::CachePolicy::none;
  EXPECT_FALSE(reads_cache(plan));
}

TEST(SmallerLimit, LeavesOutMissingOnes) {
  EXPECT_EQ(smaller_limit(0, 0), 0);
  EXPECT_EQ(smaller_limit(5, 0), 5);
  EXPECT_EQ(smaller_limit(0, 7), 7);
  EXPECT_EQ(smaller_limit(5, 7), 5);
}

}  // namespace
}  // namespace gnomon::runtime
