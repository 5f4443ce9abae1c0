// The short measurements of special mini-batches: thinner ones, those with reused rows, and those of one hop.

#include "profiles/measure/few_batches.h"

#include <gtest/gtest.h>

#include "profiles/measure/hot_batch.h"
#include "profiles/measure/macro_batch.h"
#include "profiles/measure/one_hop.h"
#include "profiles/measure/refresh.h"
#include "profiles/measure/thin_batches.h"
#include "tests/fixtures/graphs.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

const AccessOptions short_options{.time_limit_s = 0.2};
const runtime::DeviceOptions host_device;

/// Of mini-batches that are long beside the clock's resolution.
plan::Job wide_job() {
  auto job = tiny_job(100);
  job.fanouts = {10, 10};
  job.hidden = 32;
  return job;
}

TEST(FewBatches, RunsAllStagesOfAtMostSixteen) {
  const auto graph = test::planted_graph(3000, 16);
  Bench bench(graph, tiny_job(50), 1);
  const auto spans = run_few(bench, {Stage::device_batch, Stage::train}, {.time_limit_s = 100});
  EXPECT_EQ(std::ssize(spans), 2 * (few_warm_ups + few_measured));
  EXPECT_GT(median_s(spans, Stage::train), 0);
  Bench short_of_time(graph, tiny_job(50), 1);
  EXPECT_EQ(run_few(short_of_time, {Stage::device_batch, Stage::train}, {.time_limit_s = 0}).size(), 8U);
}

TEST(FewBatches, MedianLeavesOutWarmUpsAndTheFirstOfEachTurn) {
  const auto span = [](std::int64_t batch, double seconds) {
    return schedule::StageSpan{.stage = Stage::train, .batch = batch, .begin_s = 1, .end_s = 1 + seconds};
  };
  EXPECT_NEAR(
      median_s({span(0, 9), span(1, 9), span(2, 1), span(3, 2), span(4, 9), span(5, 3)}, Stage::train), 2,
      1e-12);
  EXPECT_NEAR(median_s({span(0, 9), span(1, 7)}, Stage::train), 8, 1e-12) << "there are no others";
  EXPECT_NEAR(lower_quartile_s({span(2, 1), span(3, 2), span(5, 3), span(6, 4), span(7, 5)}, Stage::train), 2,
              1e-12);
}

TEST(FewBatches, TakeTurns) {
  const auto graph = test::planted_graph(3000, 16);
  Bench first(graph, tiny_job(50), 1);
  Bench second(graph, tiny_job(50), 1);
  const auto [spans, others] = run_beside(first, second, {Stage::device_batch}, {.time_limit_s = 0});
  EXPECT_EQ(spans.size(), 12U);
  EXPECT_EQ(others.size(), 12U);
  EXPECT_LE(spans[3].end_s, spans[4].begin_s);
}

TEST(ThinBatches, AreSmallerByAscendingSize) {
  const auto thin = measure_thin(test::planted_graph(3000, 16), wide_job(), host_device, short_options);
  ASSERT_EQ(thin.size(), 2U);
  EXPECT_LT(thin[0].edges, thin[1].edges);
  EXPECT_LT(thin[1].edges, 1);
  EXPECT_LT(thin[0].vertices, thin[1].vertices);
  for (const ThinBatch& batch : thin) {
    EXPECT_GT(batch.cpu_batch, 0);
    EXPECT_GT(batch.train, 0);
  }
  auto job = wide_job();
  job.fanouts = {1, 1};
  EXPECT_TRUE(measure_thin(test::planted_graph(3000, 16), job, host_device, short_options).empty());
}

TEST(HotBatch, SamplesFewerEdges) {
  const auto graph = test::planted_graph(3000, 16);
  const auto hot = measure_hot(graph, wide_job(), host_device, short_options);
  ASSERT_TRUE(hot);
  EXPECT_GT(hot->edges, 0);
  EXPECT_LT(hot->edges, 1);
  EXPECT_GT(hot->device_batch, 0);
  EXPECT_GT(hot->train, 0);
  auto job = wide_job();
  job.model = plan::ModelKind::gat;
  EXPECT_FALSE(measure_hot(graph, job, host_device, short_options));
  EXPECT_FALSE(measure_refresh(graph, job, short_options));
}

TEST(Refresh, IsFoundFasterThanComputed) {
  const auto times = measure_refresh(test::planted_graph(3000, 16), wide_job(), short_options);
  ASSERT_TRUE(times);
  EXPECT_GT(times->find_s, 0);
  EXPECT_GT(times->compute_s, times->find_s) << "one hop beside two, features and a matrix product";
}

// On both kinds of device, whose embeddings take different ways.
TEST(OneHop, IsMeasured) {
  const runtime::DeviceOptions emulated{.kind = plan::DeviceKind::emulated,
                                        .max_bytes = std::int64_t{64} << 20,
                                        .link = {.bandwidth_bytes_per_s = 1e10},
                                        .devices = 2};
  for (const auto& device : {host_device, emulated}) {
    const auto times = measure_one_hop(test::planted_graph(3000, 16), wide_job(), device, short_options);
    ASSERT_TRUE(times);
    EXPECT_GT(times->cpu_batch_s, 0);
    EXPECT_GT(times->train_s, 0);
  }
}

TEST(SmallMacroBatch, HasWholeMiniBatches) {
  const auto graph = test::planted_graph(3000, 16);
  const auto placed = std::make_shared<const runtime::PlacedGraph>(
      runtime::place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  const auto job = tiny_job(static_cast<int>(std::ssize(graph.train)) / 5);
  const auto macro = small_macro_batch(placed, job);
  ASSERT_TRUE(macro);
  EXPECT_EQ(std::ssize(macro->graph.train) % job.batch_size, 0);
  EXPECT_GE(macro->batches * job.batch_size, std::ssize(macro->graph.train));
  EXPECT_GT(macro->load_s, 0);
  EXPECT_LE(macro->graph.num_vertices(), graph.num_vertices());
  EXPECT_FALSE(small_macro_batch(placed, tiny_job(static_cast<int>(std::ssize(graph.train))))) << "too few";
}

}  // namespace
}  // namespace gnomon::profiles
