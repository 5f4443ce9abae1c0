#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/learner.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/label_sets.h"
#include "tests/nn/take_gradients.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/macro/parted_graph.h"
#include "tests/runtime/test_runs.h"

// Trainings on graphs whose vertices have several classes.

namespace gnomon::runtime {
namespace {

using plan::ModelKind;
using plan::Route;
using plan::Schedule;
using testing::HasSubstr;
using testing::ThrowsMessage;

const graph::Graph& multilabel_graph() {
  static const auto graph = test::with_label_sets(graph_of_tests(), 3);
  return graph;
}

plan::Job multilabel_job(ModelKind model) {
  auto job = small_job(model);
  job.metrics = {plan::Metric::f1_micro, plan::Metric::accuracy};
  return job;
}

class Multilabel : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Models, Multilabel, testing::Values(ModelKind::gcn, ModelKind::sage, ModelKind::gat),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(Multilabel, GradientsAreThoseOfAtensLoss) {
  const auto& graph = multilabel_graph();
  auto job = multilabel_job(GetParam());
  job.dropout = 0;
  nn::Learner learner(job, graph.features.columns, graph.num_classes, at::kCPU,
                      nn::label_sets_of(graph, at::kCPU));
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  BatchData data;
  prepare_batch(graph, sampler, {job.seed, 0, 0},
                graph::batch_seeds(graph::epoch_order(graph.train, job.seed, 0), job.batch_size, 0), data);
  const auto batch = view_of(data);
  const auto result = learner.backward(batch, 0, 0);
  const auto found = test::take_gradients(learner.model());

  const auto logits = learner.model().forward(batch, nn::DropoutSpec{0, {}});
  const auto targets = nn::label_sets_of(graph, at::kCPU).index_select(0, batch.labels).to(at::kFloat);
  const auto loss = at::binary_cross_entropy_with_logits(logits, targets);
  loss.backward();
  const auto expected = test::take_gradients(learner.model());
  EXPECT_NEAR(result.loss_sum, loss.item<double>() * static_cast<double>(result.seeds), 1e-4);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-4, 1e-6)) << "weight " << i;
  }
}

TEST_P(Multilabel, ExactPlansLearnWithTheSameBits) {
  auto job = multilabel_job(GetParam());
  job.epochs = 4;
  const auto expected = train(multilabel_graph(), {.job = job, .plan = sequential_plan()});
  EXPECT_LT(expected.epochs.back().loss, 0.8 * expected.epochs.front().loss);
  EXPECT_GT(expected.test_metrics.front().value, 0.7);
  EXPECT_GT(expected.test_accuracy, 2 * expected.test_majority);
  auto threads = plan_of(Schedule::pipelined, Route::cpu, 2);
  threads.device_threads = 3;
  for (const auto& plan :
       {threads, plan_of(Schedule::sequential, Route::device, 0), claim_ahead_plan(2, 2)}) {
    EXPECT_EQ(train(multilabel_graph(), {.job = job, .plan = plan}).weights_hash, expected.weights_hash)
        << plan.name;
  }
  for (const char* preset : {"dgl-uva", "ducati", "salient"}) {
    auto plan = plan::resolve(plan::find_plan(preset), {3, plan::DeviceKind::emulated}, preset);
    plan.order = plan::Order::index;
    plan.device_threads = 1;
    EXPECT_EQ(
        train(multilabel_graph(), {.job = job, .plan = plan, .device = emulated_options()}).weights_hash,
        expected.weights_hash)
        << preset;
  }
}

/// Their mini-batches are of other vertices, or their layers of older embeddings.
TEST(MultilabelPresets, ApproximateOnesLearn) {
  const test::TemporaryDirectory directory;
  auto job = multilabel_job(ModelKind::sage);
  job.epochs = 6;
  const auto hanoi = macro_preset("hanoi");
  const auto parted = parted_graph(multilabel_graph(), hanoi.macro, directory / "parted");
  ASSERT_TRUE(parted.is_multilabel());
  EXPECT_GT(train(parted, {.job = job, .plan = hanoi}).test_metrics.front().value, 0.7);

  auto gas = plan::find_plan("gas");
  gas.workers = 2;
  gas.device_threads = 1;
  EXPECT_GT(train(multilabel_graph(), {.job = job, .plan = gas}).test_metrics.front().value, 0.7);
}

TEST(MultilabelRuns, AreResumedEvaluatedAndTakenForNoOthers) {
  const test::TemporaryDirectory directory;
  const auto job = multilabel_job(ModelKind::sage);
  const auto whole = train(multilabel_graph(), {.job = job, .plan = sequential_plan()});
  TrainOptions options{.job = job, .plan = sequential_plan(), .run_directory = directory / "run"};
  options.job.epochs = 1;
  train(multilabel_graph(), options);
  options.job = job;
  options.resume = true;
  EXPECT_THROW(train(graph_of_tests(), options), base::InputError);
  EXPECT_THROW(train(test::with_label_sets(graph_of_tests(), 4), options), base::InputError);
  options.predict = true;
  const auto resumed = train(multilabel_graph(), options);
  EXPECT_EQ(resumed.weights_hash, whole.weights_hash);

  EvaluationOptions evaluated;
  evaluated.checkpoint = directory / "run" / "checkpoint.pt";
  const auto evaluation = evaluate(multilabel_graph(), evaluated);
  EXPECT_EQ(evaluation.test.metrics.front().value, whole.test_metrics.front().value);
  EXPECT_EQ(evaluation.predictions.begins, resumed.predictions.begins);
  EXPECT_EQ(evaluation.predictions.classes, resumed.predictions.classes);
  EXPECT_EQ(evaluation.predictions.vertices(), static_cast<std::size_t>(multilabel_graph().num_vertices()));
  EXPECT_THAT([&] { evaluate(graph_of_tests(), evaluated); },
              ThrowsMessage<base::InputError>(
                  HasSubstr("labels: are one class per vertex; the run's are sets of classes")));
  EXPECT_THAT([&] { evaluate(test::with_label_sets(graph_of_tests(), 2), evaluated); },
              ThrowsMessage<base::InputError>(HasSubstr("classes: are 2; the run's model has 3")));
}

}  // namespace
}  // namespace gnomon::runtime
