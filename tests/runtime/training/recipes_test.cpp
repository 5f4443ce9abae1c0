#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/document.h"
#include "base/error.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/test_runs.h"

// Norms, skip connections, learning-rate schedules and metrics in whole trainings.

namespace gnomon::runtime {
namespace {

using plan::Metric;
using plan::ModelKind;
using plan::Norm;
using plan::Route;
using plan::Schedule;

const graph::Graph& graph_of_recipes() {
  static const auto graph = test::planted_graph(1500, 24);
  return graph;
}

plan::Job recipe(ModelKind model, Norm norm) {
  auto job = small_job(model);
  job.fanouts = {5, 4, 3};
  job.norm = norm;
  job.skip = true;
  job.lr_schedule = plan::LrSchedule::cosine;
  job.warmup_epochs = 1;
  job.epochs = 3;
  job.metrics = {Metric::roc_auc, Metric::accuracy, Metric::f1_macro};
  return job;
}

TrainReport train_recipe(const plan::Job& job, const plan::Plan& plan) {
  return train(graph_of_recipes(), {.job = job, .plan = plan});
}

struct RecipeCase {
  ModelKind model;
  Norm norm;
};

class Recipes : public testing::TestWithParam<RecipeCase> {};
INSTANTIATE_TEST_SUITE_P(
    Trainer, Recipes,
    testing::Values(RecipeCase{ModelKind::gcn, Norm::batch}, RecipeCase{ModelKind::sage, Norm::layer},
                    RecipeCase{ModelKind::sage, Norm::batch}, RecipeCase{ModelKind::gat, Norm::batch}),
    [](const auto& tested) {
      return std::string(base::name_of(tested.param.model)) + std::string(base::name_of(tested.param.norm));
    });

TEST_P(Recipes, ExactPlansEndWithTheSameBits) {
  const auto job = recipe(GetParam().model, GetParam().norm);
  const auto expected = train_recipe(job, sequential_plan());
  std::vector<plan::Plan> plans = {plan_of(Schedule::sequential, Route::device, 0),
                                   plan_of(Schedule::pipelined, Route::cpu, 2), claim_ahead_plan(3, 2)};
  plans.front().fused = true;
  plans.back().device_threads = 3;
  for (const auto& plan : plans) {
    const auto report =
        train(graph_of_recipes(), {.job = job, .plan = plan, .before_stage = random_delays(700)});
    EXPECT_EQ(report.weights_hash, expected.weights_hash) << plan.name;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(report.test_metrics[i].value, expected.test_metrics[i].value) << plan.name;
    }
  }
}

TEST_P(Recipes, AStoppedRunResumesToTheSameBits) {
  const auto job = recipe(GetParam().model, GetParam().norm);
  const auto expected = train_recipe(job, sequential_plan());
  const test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = claim_ahead_plan(3, 2)};
  options.run_directory = directory.path();
  options.resume = true;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done == 17; };
  TrainReport report;
  int stops = 0;
  for (bool is_done = false; !is_done; ++stops) {
    ASSERT_LT(stops, 20);
    stop = false;
    try {
      report = train(graph_of_recipes(), options);
      is_done = true;
    } catch (const base::Interrupted&) {
    }
  }
  EXPECT_EQ(stops, 4);  // once an epoch, and the train_recipe that ends
  EXPECT_EQ(report.weights_hash, expected.weights_hash);
  EXPECT_EQ(report.best_epoch, expected.best_epoch);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.valid_metrics[i].value, expected.valid_metrics[i].value);
    EXPECT_EQ(report.test_metrics[i].value, expected.test_metrics[i].value);
  }
}

TEST_P(Recipes, Learn) {
  auto job = recipe(GetParam().model, GetParam().norm);
  job.epochs = 8;
  const auto report = train_recipe(job, claim_ahead_plan(4, 1));
  EXPECT_LT(report.epochs.back().loss, 0.8 * report.epochs.front().loss);
  EXPECT_GT(report.test_accuracy, report.test_majority + 0.3);
  EXPECT_GT(report.test_metrics[0].value, 0.8);
}

TEST(Recipe, EachOptionChangesTheWeights) {
  auto job = small_job(ModelKind::gcn);
  job.epochs = 2;
  const auto plain = train_recipe(job, sequential_plan()).weights_hash;
  std::vector<plan::Job> others(5, job);
  others[0].norm = Norm::batch;
  others[1].norm = Norm::layer;
  others[2].skip = true;
  others[3].lr_schedule = plan::LrSchedule::cosine;
  others[4].warmup_epochs = 2;
  std::vector<std::string> hashes = {plain};
  for (const auto& other : others) {
    hashes.push_back(train_recipe(other, sequential_plan()).weights_hash);
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(Recipe, AStepScheduleIsTrainingWithTheLowerRate) {
  auto job = small_job(ModelKind::sage);
  job.lr_schedule = plan::LrSchedule::step;
  job.lr_step_epochs = 1;
  job.lr_decay = 0;
  job.epochs = 1;
  const auto one = train_recipe(job, sequential_plan());
  job.epochs = 3;
  EXPECT_EQ(train_recipe(job, sequential_plan()).weights_hash, one.weights_hash) << "a rate of 0 trained";
}

TEST(Recipe, ACosineScheduleIsNotContinuedWithOtherEpochs) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.lr_schedule = plan::LrSchedule::cosine;
  train(graph_of_recipes(), options);
  options.job.epochs = 4;
  EXPECT_THROW(train(graph_of_recipes(), options), base::InputError);
}

TEST(Recipe, TheFirstMetricChoosesTheEpoch) {
  auto job = small_job(ModelKind::gcn);
  job.epochs = 12;
  job.learning_rate = 0.05;
  bool differs = false;
  for (const auto metric : {Metric::accuracy, Metric::roc_auc, Metric::f1_macro}) {
    job.metrics = {metric};
    const auto report = train_recipe(job, sequential_plan());
    const auto& best = report.epochs[static_cast<std::size_t>(report.best_epoch)];
    EXPECT_EQ(best.valid_metrics[0].value, report.valid_metrics[0].value);
    EXPECT_EQ(best.valid_accuracy, report.valid_accuracy);
    for (const auto& epoch : report.epochs) {
      EXPECT_LE(epoch.valid_metrics[0].value, report.valid_metrics[0].value) << epoch.epoch;
      differs = differs || epoch.valid_accuracy > report.valid_accuracy;
    }
  }
  EXPECT_TRUE(differs) << "accuracy would have chosen the same epochs";
}

TEST(Recipe, LogsEveryMetricOfEveryEpoch) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = recipe(ModelKind::sage, Norm::batch), .plan = sequential_plan()};
  options.run_directory = directory.path();
  const auto report = train(graph_of_recipes(), options);
  std::istringstream lines(base::read_file(directory.path() / "log.jsonl"));
  std::string line;
  for (const auto& epoch : report.epochs) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto values = base::Json::parse(line)["valid_metrics"];
    ASSERT_EQ(values.size(), 3U);
    for (const auto& [metric, value] : epoch.valid_metrics) {
      EXPECT_EQ(values[std::string(base::name_of(metric))].get<double>(), value);
    }
  }
}

}  // namespace
}  // namespace gnomon::runtime
