#include "tests/fixtures/sparse_features.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/device.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

// Training on sparse features: that of dense ones up to rounding, and the same bits under every exact plan.

namespace gnomon::runtime {
namespace {

using plan::ModelKind;
using plan::Route;
using plan::Schedule;

/// The planted graph with its small features set to 0, in dense form.
const graph::Graph& thinned_graph() {
  static const auto graph = [] {
    const auto planted = test::planted_graph(1500, 64);
    auto values = test::dense_values(planted.features);
    for (float& value : values) {
      value = value > 0.9F ? value : 0.0F;
    }
    return test::with_features(planted, values, 64, graph::FeatureType::fp32);
  }();
  return graph;
}
const graph::Graph& sparse_graph() {
  static const auto graph = test::in_sparse_form(thinned_graph());
  return graph;
}

plan::Job job_of(ModelKind model) {
  auto job = small_job(model);
  job.dropout = 0.4;
  return job;
}

class SparseTraining : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Models, SparseTraining,
                         testing::Values(ModelKind::gcn, ModelKind::sage, ModelKind::gat),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(SparseTraining, LearnsAsOnDenseFeatures) {
  auto job = job_of(GetParam());
  job.epochs = 1;
  job.learning_rate = 1e-4;  // rounding does not grow
  const auto dense = train(thinned_graph(), {.job = job, .plan = sequential_plan()});
  const auto sparse = train(sparse_graph(), {.job = job, .plan = sequential_plan()});
  EXPECT_NEAR(sparse.epochs[0].loss, dense.epochs[0].loss, 1e-4);
  EXPECT_NEAR(sparse.epochs[0].valid_loss, dense.epochs[0].valid_loss, 1e-4);
}

TEST_P(SparseTraining, ExactPlansEndWithTheSameBits) {
  const auto job = job_of(GetParam());
  const auto expected = train(sparse_graph(), {.job = job, .plan = sequential_plan()});
  std::vector<plan::Plan> plans{plan_of(Schedule::sequential, Route::device, 0),
                                plan_of(Schedule::pipelined, Route::cpu, 3), claim_ahead_plan(2, 2),
                                factored_plan()};
  plans[1].handover_copies = 1;
  plans[1].worker_threads = 2;
  plans.push_back(plans[1]);
  plans.back().gather = plan::Gather::trainer;
  for (std::size_t i = plans.size(); i-- > 0;) {
    plans.push_back(plans[i]);
    plans.back().fused = true;
    plans.back().device_threads = 2;
  }
  for (const auto& plan : plans) {
    SCOPED_TRACE(plan.name + (plan.fused ? " fused" : ""));
    const auto report = train(sparse_graph(), {.job = job, .plan = plan});
    EXPECT_EQ(report.weights_hash, expected.weights_hash);
    EXPECT_EQ(report.test_accuracy, expected.test_accuracy);
  }
}

TEST_P(SparseTraining, TheBitsDoNotDependOnDeviceThreads) {
  auto job = job_of(GetParam());
  job.batch_size = 400;
  job.epochs = 1;
  auto plan = sequential_plan();
  const auto expected = train(sparse_graph(), {.job = job, .plan = plan});
  for (const int threads : {2, 3}) {
    plan.device_threads = threads;
    EXPECT_EQ(train(sparse_graph(), {.job = job, .plan = plan}).weights_hash, expected.weights_hash);
  }
}

TEST(SparseFeaturesOfARun, AreEvaluatedAndResumedAndTakenForNoOthers) {
  const test::TemporaryDirectory directory;
  auto job = job_of(ModelKind::sage);
  const auto whole = train(sparse_graph(), {.job = job, .plan = sequential_plan()});
  TrainOptions options{.job = job, .plan = sequential_plan(), .run_directory = directory / "run"};
  options.job.epochs = 1;
  train(sparse_graph(), options);
  options.job = job;
  options.resume = true;
  EXPECT_THROW(train(thinned_graph(), options), base::InputError);
  EXPECT_EQ(train(sparse_graph(), options).weights_hash, whole.weights_hash);

  EvaluationOptions evaluated;
  evaluated.checkpoint = directory / "run" / "checkpoint.pt";
  const auto on_sparse = evaluate(sparse_graph(), evaluated);
  const auto on_dense = evaluate(thinned_graph(), evaluated);
  EXPECT_NEAR(on_sparse.test.loss, on_dense.test.loss, 1e-5);
  EXPECT_EQ(on_sparse.predictions.vertices(), on_dense.predictions.vertices());
}

TEST(SparseFeaturesOfADevice, AreDenseOnAnEmulatedOne) {
  const auto job = job_of(ModelKind::sage);
  const auto emulated = emulated_options(std::int64_t{1} << 30);
  const auto plan = plan_of(Schedule::sequential, Route::device, 0);
  EXPECT_EQ(train(sparse_graph(), {.job = job, .plan = plan, .device = emulated}).weights_hash,
            train(thinned_graph(), {.job = job, .plan = plan}).weights_hash);
}

TEST(SparseFeaturesOfADevice, AreDenseUnlessItTakesSparseOnes) {
  EXPECT_TRUE(features_for(sparse_graph(), {}).features.is_sparse());
  const DeviceOptions gpu{.kind = plan::DeviceKind::cuda};
  const auto dense = features_for(sparse_graph(), gpu);
  ASSERT_FALSE(dense.features.is_sparse());
  const auto expected = thinned_graph().features.data_bytes();
  ASSERT_EQ(dense.features.data_bytes().size(), expected.size());
  EXPECT_EQ(std::memcmp(dense.features.data, expected.data(), expected.size()), 0);
  EXPECT_EQ(features_for(thinned_graph(), gpu).features.data, thinned_graph().features.data);
}

}  // namespace
}  // namespace gnomon::runtime
