#include "runtime/reuse/hot_embeddings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "runtime/training/run_log.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/runtime/test_runs.h"

// NeutronOrch: hot embeddings refreshed by the workers once a super-batch.

namespace gnomon::runtime {
namespace {

using plan::ModelKind;
using plan::Route;
using plan::Schedule;

plan::Plan orch_plan(double hot_ratio, int length, int workers = 2) {
  auto plan = plan_of(Schedule::super_batch, Route::device, 0);
  plan.exact = false;
  plan.embeddings = {plan::Reuse::hot, hot_ratio};
  plan.super_batch = length;
  plan.workers = workers;
  return plan;
}

const graph::Graph& dense_graph() {
  static const auto graph = test::planted_graph(1500, 32);
  return graph;
}

/// The graph with its small features set to 0, in sparse form.
const graph::Graph& thinned_graph_in_sparse_form() {
  static const auto graph = [] {
    auto values = test::dense_values(dense_graph().features);
    for (float& value : values) {
      value = value > 0.9F ? value : 0.0F;
    }
    return test::in_sparse_form(test::with_features(dense_graph(), values, 32, graph::FeatureType::fp32));
  }();
  return graph;
}

plan::Job dropout_job(ModelKind model) {
  auto job = small_job(model);
  job.dropout = 0.3;
  return job;
}

struct HotSetting {
  ModelKind model = ModelKind::sage;
  bool is_sparse = false;
  const graph::Graph& graph() const { return is_sparse ? thinned_graph_in_sparse_form() : dense_graph(); }
};

class HotTraining : public testing::TestWithParam<HotSetting> {};
INSTANTIATE_TEST_SUITE_P(Settings, HotTraining,
                         testing::Values(HotSetting{ModelKind::sage, false},
                                         HotSetting{ModelKind::gcn, false}, HotSetting{ModelKind::sage, true},
                                         HotSetting{ModelKind::gcn, true}),
                         [](const auto& tested) {
                           return std::string(base::name_of(tested.param.model)) +
                                  (tested.param.is_sparse ? "_sparse" : "");
                         });

TEST_P(HotTraining, WithoutHotVerticesItIsTheExactOne) {
  const auto job = dropout_job(GetParam().model);
  const auto expected = train(GetParam().graph(), {.job = job, .plan = sequential_plan()});
  EXPECT_EQ(train(GetParam().graph(), {.job = job, .plan = orch_plan(0, 5)}).weights_hash,
            expected.weights_hash);
  auto without = orch_plan(0, 5);
  without.embeddings.reuse = plan::Reuse::none;
  without.exact = true;
  without.workers = 0;
  EXPECT_EQ(train(GetParam().graph(), {.job = job, .plan = without}).weights_hash, expected.weights_hash);
}

TEST_P(HotTraining, TheBitsDependOnSeedAndPlanAlone) {
  const auto job = dropout_job(GetParam().model);
  const auto expected = train(GetParam().graph(), {.job = job, .plan = orch_plan(0.3, 5, 1)});
  EXPECT_NE(expected.weights_hash,
            train(GetParam().graph(), {.job = job, .plan = sequential_plan()}).weights_hash);
  for (const int threads : {1, 2, 3}) {
    TrainOptions options{.job = job, .plan = orch_plan(0.3, 5, threads)};
    options.plan.device_threads = threads;
    options.plan.worker_threads = threads == 2 ? 2 : 1;
    options.before_stage = random_delays(static_cast<std::uint64_t>(threads));
    EXPECT_EQ(train(GetParam().graph(), options).weights_hash, expected.weights_hash) << threads;
  }
}

TEST_P(HotTraining, FreshEmbeddingsOfAllNeighboursAreExact) {
  // With all neighbours nothing is drawn, and weights that do not move are never stale.
  auto job = small_job(GetParam().model);
  job.fanouts = {4, -1};
  job.dropout = 0;
  job.learning_rate = 1e-12;
  job.epochs = 1;
  const auto exact = train(GetParam().graph(), {.job = job, .plan = sequential_plan()});
  for (const double ratio : {0.2, 1.0}) {
    const auto reused = train(GetParam().graph(), {.job = job, .plan = orch_plan(ratio, 4)});
    EXPECT_NEAR(reused.epochs[0].loss, exact.epochs[0].loss, 1e-5);
    EXPECT_EQ(reused.epochs[0].train_accuracy, exact.epochs[0].train_accuracy);
  }
}

// An epoch of one mini-batch computes its embeddings by the weights that it trains, so with all neighbours
// and all vertices hot it is the exact epoch up to rounding, gradients of the first layer and all.
TEST_P(HotTraining, EpochsOfOneMiniBatchAreExact) {
  auto job = small_job(GetParam().model);
  job.fanouts = {4, -1};
  job.dropout = 0;
  job.batch_size = 1000;
  job.epochs = 6;
  const auto exact = train(GetParam().graph(), {.job = job, .plan = sequential_plan()});
  const auto reused = train(GetParam().graph(), {.job = job, .plan = orch_plan(1, 1)});
  for (std::size_t epoch = 0; epoch < 6; ++epoch) {
    EXPECT_NEAR(reused.epochs[epoch].loss, exact.epochs[epoch].loss, 2e-4) << epoch;
    ASSERT_TRUE(reused.epochs[epoch].reuse);
    const auto& of = reused.epochs[epoch].reuse->super_batches.at(0);
    EXPECT_EQ(of.staleness, 0);
    EXPECT_GT(of.epsilon, 0);
    EXPECT_LE(of.epsilon, 2 * 1.5 * job.learning_rate) << "a step of Adam moves a weight by about the rate";
  }
  EXPECT_LT(exact.epochs[5].loss, exact.epochs[0].loss - 0.05);
}

TEST(HotTrainings, AreAtMostTwoSuperBatchesStale) {
  const auto job = dropout_job(ModelKind::sage);
  const auto report = train(dense_graph(), {.job = job, .plan = orch_plan(0.3, 5)});
  for (const auto& epoch : report.epochs) {
    ASSERT_TRUE(epoch.reuse);
    ASSERT_EQ(epoch.reuse->super_batches.size(), 6U);  // of 29 mini-batches
    EXPECT_EQ(epoch.reuse->super_batches[0].staleness, 4);
    EXPECT_EQ(epoch.reuse->super_batches[1].staleness, 9);
    EXPECT_EQ(epoch.reuse->super_batches[4].staleness, 9);
    EXPECT_EQ(epoch.reuse->super_batches[5].staleness, 8) << "it has four mini-batches";
    for (const auto& of : epoch.reuse->super_batches) {
      EXPECT_EQ(of.hot, 450);
      EXPECT_GT(of.refreshed, 0);
      EXPECT_LE(of.refreshed, of.hot);
    }
  }
}

TEST(HotTrainings, CountWhatTheySave) {
  auto job = dropout_job(ModelKind::sage);
  job.epochs = 1;
  const auto& graph = dense_graph();
  const auto report = train(graph, {.job = job, .plan = orch_plan(0.3, 5)});
  // By the mini-batches of the exact plan.
  const auto placed = place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0});
  const auto set = rank_by_visits(count_bottom(placed, job, 1, {}).destinations);
  const HotVertices hot{set.ranks, 450};
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  const auto order = graph::epoch_order(graph.train, job.seed, 0);
  std::int64_t edges = 0;
  std::int64_t vertices = 0;
  for (std::int64_t batch = 0; batch < 29; ++batch) {
    kernels::MiniBatch sampled;
    sampler.sample({job.seed, 0, static_cast<std::uint64_t>(batch)},
                   graph::batch_seeds(order, job.batch_size, batch), sampled);
    const auto& block = sampled.blocks.back();
    std::set<graph::VertexId> left;
    for (std::size_t v = 0; v < static_cast<std::size_t>(block.num_destinations); ++v) {
      if (hot.holds(sampled.vertices[v])) {
        edges += block.indptr[v + 1] - block.indptr[v];
        continue;
      }
      left.insert(sampled.vertices[v]);
      for (auto edge = block.indptr[v]; edge < block.indptr[v + 1]; ++edge) {
        const auto local = block.indices[static_cast<std::size_t>(edge)];
        left.insert(sampled.vertices[static_cast<std::size_t>(local)]);
      }
    }
    vertices += std::ssize(sampled.vertices) - std::ssize(left);
  }
  ASSERT_TRUE(report.epochs[0].reuse);
  EXPECT_EQ(report.epochs[0].reuse->edges_not_aggregated, edges);
  EXPECT_EQ(report.epochs[0].reuse->vertices_not_sampled, vertices);
  EXPECT_EQ(report.epochs[0].reuse->bytes_not_gathered, vertices * 32 * 4);
  EXPECT_GT(edges, 0);
}

TEST(HotTrainings, EndWithTheSameBitsOnAnEmulatedDevice) {
  const auto job = dropout_job(ModelKind::sage);
  const auto expected = train(dense_graph(), {.job = job, .plan = orch_plan(0.3, 5)});
  TrainOptions options{.job = job, .plan = orch_plan(0.3, 5)};
  options.device = {
      .kind = plan::DeviceKind::emulated, .max_bytes = 256 << 20, .link = {.bandwidth_bytes_per_s = 4e9}};
  EXPECT_EQ(train(dense_graph(), options).weights_hash, expected.weights_hash);
}

TEST(HotTrainings, ResumeToTheSameBitsWhereverTheyStop) {
  const auto job = dropout_job(ModelKind::gcn);
  TrainOptions options{.job = job, .plan = orch_plan(0.3, 5)};
  const auto expected = train(dense_graph(), options);
  for (const std::int64_t stop_after : {1, 5, 7, 10, 28, 29}) {
    const test::TemporaryDirectory directory;
    auto parts = options;
    parts.run_directory = directory.path();
    std::atomic<bool> stop = false;
    parts.stop = &stop;
    parts.progress = [&](std::string_view doing, std::int64_t done, std::int64_t) {
      stop = stop || (doing.starts_with("epoch") && done == stop_after);
    };
    EXPECT_THROW(train(dense_graph(), parts), base::Interrupted) << stop_after;
    stop = false;
    parts.progress = {};
    parts.resume = true;
    const auto report = train(dense_graph(), parts);
    EXPECT_EQ(report.weights_hash, expected.weights_hash) << stop_after;
    ASSERT_TRUE(report.epochs[0].reuse && expected.epochs[0].reuse);
    EXPECT_EQ(report.epochs[0].reuse->super_batches, expected.epochs[0].reuse->super_batches) << stop_after;
    EXPECT_EQ(report.epochs[0].reuse->edges_not_aggregated, expected.epochs[0].reuse->edges_not_aggregated);
    EXPECT_EQ(report.epochs[0].reuse->vertices_not_sampled, expected.epochs[0].reuse->vertices_not_sampled);
  }
}

TEST(HotTrainings, AdaptTheRatioAndReplayIt) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = dropout_job(ModelKind::sage), .plan = orch_plan(0.1, 3)};
  options.run_directory = directory.path();
  options.hot_ratio.adapt = true;
  // The workers are slow in the first epoch and the device in the second.
  std::atomic<bool> is_slow = true;
  options.on_epoch = [&](const EpochReport&) { is_slow = false; };
  options.before_stage = [&](schedule::Stage stage, std::int64_t) {
    if (is_slow && stage == schedule::Stage::group_prepare) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    } else if (!is_slow && stage == schedule::Stage::train) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  const auto expected = train(dense_graph(), options);
  const auto counts = read_hot_counts(directory / "order.jsonl");
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].front(), 150);
  EXPECT_LT(counts[0].back(), 150);
  EXPECT_GT(counts[1].back(), counts[1].front());
  TrainOptions replay{.job = options.job, .plan = options.plan};
  replay.replay = read_orders(directory / "order.jsonl");
  replay.hot_ratio.counts = counts;
  EXPECT_EQ(train(dense_graph(), replay).weights_hash, expected.weights_hash);
  replay.hot_ratio.counts[0].pop_back();
  EXPECT_THROW(train(dense_graph(), replay), base::InputError);
}

/// The rest of a super-batch in which a run is resumed tells nothing about how fast the workers are.
TEST(HotTrainings, KeepTheRatioAfterTheRestOfASuperBatch) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = dropout_job(ModelKind::sage), .plan = orch_plan(0.1, 3)};
  options.run_directory = directory.path();
  options.hot_ratio.adapt = true;
  // Workers are always in time: the last mini-batch of a super-batch waits until the next one's embeddings
  // are there, and only after a resume they are not.
  std::atomic<std::int64_t> refreshed = 0;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.before_stage = [&](schedule::Stage stage, std::int64_t number) {
    if (stage == schedule::Stage::group_transfer) {
      ++refreshed;
    } else if (stage == schedule::Stage::train && number % 3 == 2) {
      const auto until =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(number == 8 ? 50 : 5000);
      while (refreshed < number / 3 + 2 && number < 26 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    stop = stop || (stage == schedule::Stage::train && number == 6);
  };
  EXPECT_THROW(train(dense_graph(), options), base::Interrupted);  // after mini-batch 6, the first of three
  stop = false;
  options.resume = true;
  options.job.epochs = 1;
  options.stop = nullptr;
  refreshed = 2;  // super-batches 0 and 1
  train(dense_graph(), options);
  const auto counts = read_hot_counts(directory / "order.jsonl").at(0);
  ASSERT_EQ(counts.size(), 10U);
  EXPECT_EQ(counts[4], counts[3]) << "super-batch 2 was resumed";
  for (std::size_t i = 2; i < counts.size(); ++i) {
    EXPECT_TRUE(i == 4 || counts[i] > counts[i - 1]) << i;
  }
}

TEST(HotTrainings, LearnAsWellAsExactOnes) {
  auto job = small_job(ModelKind::sage);
  job.epochs = 5;
  const auto exact = train(dense_graph(), {.job = job, .plan = sequential_plan()});
  const auto reused = train(dense_graph(), {.job = job, .plan = orch_plan(0.2, 4)});
  EXPECT_GT(exact.test_accuracy, 0.8);
  EXPECT_NEAR(reused.test_accuracy, exact.test_accuracy, 0.03);
}

TEST(HotTrainings, RefuseWhatHasNoGradientFromSums) {
  const auto why = [](plan::Job job) -> std::string {
    try {
      train(dense_graph(), {.job = std::move(job), .plan = orch_plan(0.2, 4)});
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(why(small_job(ModelKind::gat)).find("model \"gat\""), std::string::npos);
  auto job = small_job(ModelKind::sage);
  job.skip = true;
  EXPECT_NE(why(job).find("skip connections"), std::string::npos);
  job = small_job(ModelKind::sage);
  job.fanouts = {5};
  EXPECT_NE(why(job).find("two layers"), std::string::npos);
}

}  // namespace
}  // namespace gnomon::runtime
