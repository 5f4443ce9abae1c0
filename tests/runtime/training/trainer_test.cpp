#include "runtime/training/trainer.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/document.h"
#include "base/error.h"
#include "graph/store/builder.h"
#include "runtime/training/run_log.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::ModelKind;
using plan::Route;
using plan::Schedule;

TrainReport run(const plan::Job& job, const plan::Plan& plan, std::uint64_t delay_seed = 0) {
  TrainOptions options{.job = job, .plan = plan};
  if (delay_seed != 0) {
    options.before_stage = random_delays(delay_seed);
  }
  return train(graph_of_tests(), options);
}

std::vector<std::int64_t> first_batches(std::int64_t count) {
  std::vector<std::int64_t> batches(static_cast<std::size_t>(count));
  std::iota(batches.begin(), batches.end(), 0);
  return batches;
}

constexpr std::int64_t batches_an_epoch = 29;  // 900 training vertices in batches of 32

class EveryModel : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Trainer, EveryModel,
                         testing::Values(ModelKind::gcn, ModelKind::sage, ModelKind::gat),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(EveryModel, ExactPlansEndWithTheSameBitsWhateverTheTiming) {
  const auto job = small_job(GetParam());
  const auto expected = run(job, sequential_plan());
  std::vector<plan::Plan> plans = {plan_of(Schedule::sequential, Route::device, 0)};
  for (int workers = 1; workers <= 4; ++workers) {
    plans.push_back(plan_of(Schedule::pipelined, Route::cpu, workers));
    plans.back().handover_copies = workers - 1;
  }
  int workers = 0;
  for (const int look_ahead : {0, 1, 2, 4, 9, 100}) {
    plans.push_back(claim_ahead_plan(look_ahead, workers++ % 4 + 1));
  }
  for (const auto& gathered : {plan_of(Schedule::sequential, Route::cpu, 1),
                               plan_of(Schedule::pipelined, Route::cpu, 3), factored_plan()}) {
    plans.push_back(gathered);
    plans.back().gather = plan::Gather::trainer;
    plans.back().device_threads = 2;
  }
  for (std::size_t i = plans.size(); i-- > 0;) {
    if (i % 2 == 0) {
      plans.push_back(plans[i]);
      plans.back().name += " fused";
      plans.back().fused = true;
    }
  }
  std::uint64_t delay_seed = 100;
  for (const auto& plan : plans) {
    SCOPED_TRACE(plan.name + ", workers " + std::to_string(plan.workers) + ", look-ahead " +
                 std::to_string(plan.look_ahead) + ", delays " + std::to_string(delay_seed));
    const auto report = run(job, plan, delay_seed++);
    ASSERT_EQ(report.epochs.size(), 2U);
    for (const auto& epoch : report.epochs) {
      EXPECT_EQ(epoch.log.trained, first_batches(batches_an_epoch));
      EXPECT_EQ(epoch.loss, expected.epochs[static_cast<std::size_t>(epoch.epoch)].loss);
    }
    EXPECT_EQ(report.weights_hash, expected.weights_hash);
  }
}

TEST_P(EveryModel, TheBitsDoNotDependOnDeviceThreads) {
  auto job = small_job(GetParam());
  job.batch_size = 400;  // tensors of several pieces
  job.hidden = 64;
  job.epochs = 1;
  auto plan = sequential_plan();
  const auto expected = run(job, plan);
  for (const int threads : {1, 2, 3}) {
    plan.device_threads = threads;
    for (const bool fused : {false, true}) {
      plan.fused = fused;
      EXPECT_EQ(run(job, plan).weights_hash, expected.weights_hash)
          << threads << " threads" << (fused ? ", fused" : "");
    }
  }
}

TEST_P(EveryModel, AnotherSeedGivesOtherWeights) {
  auto job = small_job(GetParam());
  job.epochs = 1;
  const auto first = run(job, sequential_plan());
  job.seed = 6;
  EXPECT_NE(run(job, sequential_plan()).weights_hash, first.weights_hash);
}

TEST_P(EveryModel, LearnsAPlantedPartition) {
  graph::PlantedPartition options;
  options.vertices = 3000;
  options.average_degree = 12;
  options.classes = 4;
  options.intra_share = 0.8;
  options.feature_columns = 16;
  options.seed = 3;
  const auto graph = graph::generate_in_memory(options);
  auto job = small_job(GetParam());
  job.fanouts = {10, 10};
  job.batch_size = 128;
  job.epochs = 10;
  const auto report = train(graph, {.job = job, .plan = claim_ahead_plan(4, 1)});
  const double best = graph::best_accuracy(options);
  const double features_only = graph::feature_accuracy(options);
  EXPECT_GT(report.test_accuracy, best - 0.06) << "features alone: " << features_only;
  EXPECT_GT(best - 0.06, features_only + 0.1) << "the task does not need the graph";
  EXPECT_LT(report.epochs.back().loss, report.epochs.front().loss);
}

/// Plans that take turns, with stretches of these lengths in batches.
auto taking_turns(std::vector<plan::Plan> plans, std::vector<std::int64_t> lengths) {
  return [plans, lengths, turn = std::size_t{0}](std::int64_t left) mutable {
    const Stretch stretch{plans[turn % plans.size()], std::min(left, lengths[turn % lengths.size()])};
    ++turn;
    return stretch;
  };
}

TEST_P(EveryModel, PlansThatTakeTurnsEndWithTheBitsOfOne) {
  const auto job = small_job(GetParam());
  const auto expected = run(job, sequential_plan());
  const std::vector<plan::Plan> plans = {claim_ahead_plan(3, 2), plan_of(Schedule::pipelined, Route::cpu, 3),
                                         plan_of(Schedule::sequential, Route::device, 0), sequential_plan()};
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.before_stage = random_delays(400);
  options.next_stretch = taking_turns(plans, {5, 3, 1, 7, 100});
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> trained;
  options.on_stretch = [&](const StretchReport& report) {
    EXPECT_EQ(std::ssize(report.log.trained), report.stretch.batches);
    EXPECT_GT(report.log.seconds(), 0);
    const auto trainings =
        std::count_if(report.timeline.begin(), report.timeline.end(),
                      [](const auto& span) { return span.stage == schedule::Stage::train; });
    EXPECT_EQ(trainings, report.stretch.batches);
    lengths.push_back(report.stretch.batches);
    trained.insert(trained.end(), report.log.trained.begin(), report.log.trained.end());
  };
  const auto report = train(graph_of_tests(), options);
  EXPECT_EQ(report.weights_hash, expected.weights_hash);
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{5, 3, 1, 7, 13, 5, 3, 1, 7, 13}));
  auto twice = first_batches(batches_an_epoch);
  twice.insert(twice.end(), twice.begin(), twice.begin() + batches_an_epoch);
  EXPECT_EQ(trained, twice);
  for (const auto& epoch : report.epochs) {
    EXPECT_EQ(epoch.log.trained, first_batches(batches_an_epoch));
    EXPECT_EQ(epoch.loss, expected.epochs[static_cast<std::size_t>(epoch.epoch)].loss);
  }
  const auto& spans = report.epochs.back().timeline;
  double trained_until_s = 0;
  for (const auto& span : spans) {
    if (span.stage == schedule::Stage::train) {
      EXPECT_GE(span.begin_s, trained_until_s) << "batch " << span.batch << ": one clock for all stretches";
      trained_until_s = span.end_s;
    }
  }
  EXPECT_LE(trained_until_s, report.epochs.back().log.end_s);
}

TEST(Trainer, StretchesTellTheTimeOfFillingCaches) {
  auto plan = plan_of(Schedule::sequential, Route::device, 0);
  plan.cache.policy = plan::CachePolicy::out_degree;
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = plan};
  options.device = emulated_options();
  options.next_stretch = taking_turns({plan}, {8, 100});
  std::vector<bool> filled;
  options.on_stretch = [&](const StretchReport& report) {
    filled.push_back(report.filling_s > 0);
    EXPECT_LT(report.filling_s, report.log.seconds());
  };
  train(graph_of_tests(), options);
  EXPECT_EQ(filled, (std::vector<bool>{true, false, false, false}));
}

TEST(Trainer, ARunStoppedWhilePlansTakeTurnsGoesOnUnderOne) {
  const auto job = small_job(ModelKind::sage);
  const test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = claim_ahead_plan(3, 2)};
  options.run_directory = directory.path();
  options.resume = true;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done == 12; };
  options.next_stretch = taking_turns({claim_ahead_plan(3, 2), sequential_plan()}, {10});
  EXPECT_THROW(train(graph_of_tests(), options), base::Interrupted);
  options.stop = nullptr;
  options.progress = {};
  options.next_stretch = {};
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, run(job, sequential_plan()).weights_hash);
  EXPECT_EQ(read_orders(directory.path() / "order.jsonl"), std::vector(2, first_batches(batches_an_epoch)));
}

TEST(Trainer, StretchesThatCannotBeAreRefused) {
  TrainOptions options{.job = small_job(ModelKind::gcn), .plan = sequential_plan()};
  options.next_stretch = [](std::int64_t) { return Stretch{dual_buffer_plan(2, 2, 1), 1}; };
  EXPECT_THROW(train(graph_of_tests(), options), base::InputError) << "its order depends on timing";
  options.next_stretch = [](std::int64_t) { return Stretch{claim_ahead_plan(2, 0), 1}; };
  EXPECT_THROW(train(graph_of_tests(), options), base::InputError) << "not resolved";
  for (const std::int64_t batches : {0, 30}) {
    options.next_stretch = [batches](std::int64_t) { return Stretch{sequential_plan(), batches}; };
    EXPECT_THROW(train(graph_of_tests(), options), std::invalid_argument) << batches;
  }
}

TEST(Trainer, DualBufferTrainsEveryBatchOnceAndItsLogReplaysTheWeights) {
  const auto job = small_job(ModelKind::sage);
  bool reordered = false;
  std::uint64_t delay_seed = 300;
  for (const auto& [cpu_buffer, device_buffer] :
       std::vector<std::pair<int, int>>{{1, 10}, {2, 5}, {3, 3}, {5, 2}, {10, 1}}) {
    SCOPED_TRACE(std::to_string(cpu_buffer) + "/" + std::to_string(device_buffer) + ", delays " +
                 std::to_string(delay_seed));
    const test::TemporaryDirectory directory;
    TrainOptions options{.job = job, .plan = dual_buffer_plan(cpu_buffer, device_buffer, 2)};
    options.run_directory = directory.path();
    options.before_stage = random_delays(delay_seed++);
    const auto report = train(graph_of_tests(), options);
    const auto orders = read_orders(directory.path() / "order.jsonl");
    ASSERT_EQ(orders.size(), 2U);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(orders[epoch], report.epochs[epoch].log.trained);
      auto sorted = orders[epoch];
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, first_batches(batches_an_epoch));
      reordered = reordered || sorted != orders[epoch];
    }
    for (const auto& plan : {options.plan, sequential_plan(), claim_ahead_plan(3, 2)}) {
      const auto replayed = train(graph_of_tests(), {.job = job, .plan = plan, .replay = orders});
      EXPECT_EQ(replayed.weights_hash, report.weights_hash) << plan.name;
      EXPECT_EQ(replayed.epochs[1].log.trained, orders[1]);
    }
  }
  EXPECT_TRUE(reordered) << "no plan trained out of the order of the indices: nothing was replayed";
}

TEST(Trainer, StopSavesAndResumeEndsWithTheSameBitsUnderAnotherPlan) {
  const auto job = small_job(ModelKind::gat);
  const auto expected = run(job, sequential_plan());
  const test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = claim_ahead_plan(3, 2)};
  options.run_directory = directory.path();
  options.resume = true;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done % 8 == 7; };
  const std::vector<plan::Plan> plans = {claim_ahead_plan(3, 2), plan_of(Schedule::pipelined, Route::cpu, 2),
                                         sequential_plan(), plan_of(Schedule::sequential, Route::device, 0)};
  TrainReport report;
  int stops = 0;
  for (bool is_done = false; !is_done; ++stops) {
    ASSERT_LT(stops, 20);
    options.plan = plans[static_cast<std::size_t>(stops) % plans.size()];
    stop = false;
    try {
      report = train(graph_of_tests(), options);
      is_done = true;
    } catch (const base::Interrupted&) {
    }
  }
  EXPECT_EQ(stops - 1, 6);  // after updates 8, 16 and 24 of each epoch
  EXPECT_EQ(report.weights_hash, expected.weights_hash);
  EXPECT_EQ(report.test_accuracy, expected.test_accuracy);
  EXPECT_EQ(report.best_epoch, expected.best_epoch);
  EXPECT_EQ(report.epochs.back().loss, expected.epochs.back().loss);
  const auto orders = read_orders(directory.path() / "order.jsonl");
  EXPECT_EQ(orders, std::vector(2, first_batches(batches_an_epoch)));
  // A finished run resumes to its result.
  options.stop = nullptr;
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected.weights_hash);
}

TEST(Trainer, AStopDuringEvaluationLosesNothing) {
  const auto job = small_job(ModelKind::gcn);
  const auto expected = run(job, sequential_plan());
  const test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.stop = &stop;
  // Told after the last update's own look at the flag: the evaluation is what sees it.
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t total) { stop = done == total; };
  EXPECT_THROW(train(graph_of_tests(), options), base::Interrupted);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "log.jsonl")) << "the epoch was evaluated";
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "checkpoint.pt"));
  stop = false;
  options.progress = {};
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected.weights_hash);
}

/// The number of epochs, at least two, after which an earlier one is the best so far.
int epochs_past_the_best(const TrainReport& report) {
  double best = report.epochs.front().valid_accuracy;
  for (std::size_t epoch = 1; epoch < report.epochs.size(); ++epoch) {
    if (report.epochs[epoch].valid_accuracy <= best) {
      return static_cast<int>(epoch) + 1;
    }
    best = report.epochs[epoch].valid_accuracy;
  }
  return 0;
}

TEST(Trainer, AStopDuringTheTestKeepsTheLastEpochsWeights) {
  auto job = small_job(ModelKind::gcn);
  job.epochs = 12;
  job.epochs = epochs_past_the_best(run(job, sequential_plan()));
  ASSERT_GT(job.epochs, 0) << "every epoch was better than those before";
  const auto expected = run(job, sequential_plan());
  const test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.stop = &stop;
  options.on_epoch = [&](const EpochReport& report) { stop = report.epoch + 1 == job.epochs; };
  EXPECT_THROW(train(graph_of_tests(), options), base::Interrupted);
  stop = false;
  options.on_epoch = {};
  const auto report = train(graph_of_tests(), options);
  EXPECT_EQ(report.weights_hash, expected.weights_hash);
  EXPECT_EQ(report.test_accuracy, expected.test_accuracy);
}

TEST(Trainer, ARunThatEndsBetweenCheckpointsGoesOnFromTheLast) {
  auto job = small_job(ModelKind::gcn);
  job.epochs = 12;
  const auto expected = run(job, sequential_plan());
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  for (const std::int64_t last : {2, 7, 8}) {
    options.on_epoch = [last](const EpochReport& report) {
      if (report.epoch == last) {
        throw std::runtime_error("no more");
      }
    };
    EXPECT_THROW(train(graph_of_tests(), options), std::runtime_error);
  }
  options.on_epoch = {};
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected.weights_hash);
  EXPECT_EQ(read_orders(directory.path() / "order.jsonl"), std::vector(12, first_batches(batches_an_epoch)));
}

TEST(Trainer, MoreEpochsContinueAFinishedRun) {
  auto job = small_job(ModelKind::sage);
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.epochs = 1;
  train(graph_of_tests(), options);
  options.job.epochs = 2;
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, run(job, sequential_plan()).weights_hash);
}

TEST(Trainer, WithoutResumeARunDirectoryStartsAnew) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  options.run_directory = directory.path();
  const auto first = train(graph_of_tests(), options);
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, first.weights_hash);
  std::ifstream log(directory.path() / "log.jsonl");
  std::vector<base::Json> lines;
  for (std::string line; std::getline(log, line);) {
    lines.push_back(base::Json::parse(line));
  }
  ASSERT_EQ(lines.size(), 2U);
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(lines[epoch]["epoch"], epoch + 1);
    EXPECT_EQ(lines[epoch]["loss"], first.epochs[epoch].loss);
    EXPECT_EQ(lines[epoch]["valid_accuracy"], first.epochs[epoch].valid_accuracy);
  }
}

/// Lines of a run directory's log, counted from `first`, as earlier versions wrote them from 0.
void renumber(const std::filesystem::path& path, std::int64_t first) {
  std::istringstream lines(base::read_file(path));
  std::string renumbered;
  for (std::string line; std::getline(lines, line); ++first) {
    auto json = base::Json::parse(line);
    json["epoch"] = first;
    renumbered += json.dump() + "\n";
  }
  base::write_file_atomically(path, renumbered);
}

TEST(Trainer, LogsThatCountFromZeroAreReadAndContinuedFromOne) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.epochs = 2;
  train(graph_of_tests(), options);
  const auto log = base::read_file(directory / "log.jsonl");
  for (const char* name : {"log.jsonl", "order.jsonl"}) {
    renumber(directory / name, 0);
  }
  EXPECT_EQ(read_orders(directory / "order.jsonl"), std::vector(2, first_batches(batches_an_epoch)));
  options.job.epochs = 3;
  train(graph_of_tests(), options);
  EXPECT_EQ(read_orders(directory / "order.jsonl"), std::vector(3, first_batches(batches_an_epoch)));
  EXPECT_EQ(base::read_file(directory / "log.jsonl").substr(0, log.size()), log);
}

TEST(Trainer, PatienceEndsTheRunAndTheBestWeightsAreTested) {
  auto job = small_job(ModelKind::gcn);
  job.epochs = 60;
  job.patience = 2;
  job.learning_rate = 0.05;
  const auto report = run(job, sequential_plan());
  ASSERT_LT(report.epochs.size(), 60U);
  EXPECT_EQ(report.best_epoch, std::ssize(report.epochs) - 3);
  EXPECT_EQ(report.valid_accuracy, report.epochs[static_cast<std::size_t>(report.best_epoch)].valid_accuracy);
  const auto least_loss = report.epochs[static_cast<std::size_t>(report.best_epoch)].valid_loss;
  for (const auto& epoch : report.epochs) {
    EXPECT_LE(epoch.valid_accuracy, report.valid_accuracy);
    EXPECT_TRUE(epoch.valid_accuracy < report.valid_accuracy || epoch.valid_loss >= least_loss);
  }
  job.patience = 0;
  job.epochs = static_cast<int>(report.best_epoch) + 1;
  EXPECT_EQ(run(job, sequential_plan()).test_accuracy, report.test_accuracy);
}

TEST(Trainer, EvaluatesAsOftenAsAskedAndTrainsTheSame) {
  auto job = small_job(ModelKind::sage);
  job.epochs = 5;
  const auto trained = [&](std::int64_t evaluate_every) {
    TrainOptions options{.job = job, .plan = sequential_plan()};
    options.evaluate_every = evaluate_every;
    return train(graph_of_tests(), options);
  };
  const auto always = trained(1);
  const auto seldom = trained(2);
  const auto never = trained(0);
  EXPECT_EQ(seldom.weights_hash, always.weights_hash);
  EXPECT_EQ(never.weights_hash, always.weights_hash);
  for (std::size_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_TRUE(std::isnan(never.epochs[epoch].valid_accuracy));
    if (epoch % 2 == 1 || epoch == 4) {
      EXPECT_EQ(seldom.epochs[epoch].valid_accuracy, always.epochs[epoch].valid_accuracy);
    } else {
      EXPECT_TRUE(std::isnan(seldom.epochs[epoch].valid_accuracy));
    }
  }
  EXPECT_TRUE(seldom.best_epoch % 2 == 1 || seldom.best_epoch == 4) << seldom.best_epoch;
  EXPECT_EQ(never.best_epoch, 4);
  EXPECT_TRUE(std::isnan(never.test_accuracy));
  EXPECT_GT(seldom.test_accuracy, 0.5);
}

TEST(Trainer, PatienceCountsEpochsAlsoBetweenEvaluations) {
  auto job = small_job(ModelKind::sage);
  job.epochs = 30;
  job.learning_rate = 0;  // no epoch is better than the first that is evaluated
  job.patience = 4;
  TrainOptions options{.job = job, .plan = sequential_plan()};
  options.evaluate_every = 3;
  const auto report = train(graph_of_tests(), options);
  EXPECT_EQ(report.best_epoch, 2);
  EXPECT_EQ(report.epochs.size(), 9U);  // evaluated after 3, 6 and 9 epochs: 6 - 3 < 4 <= 9 - 3
}

TEST(Trainer, ReportsTimesProgressAndTimelines) {
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = claim_ahead_plan(3, 2)};
  std::vector<std::int64_t> done;
  options.progress = [&](std::string_view, std::int64_t now, std::int64_t total) {
    EXPECT_EQ(total, batches_an_epoch);
    done.push_back(now);
  };
  std::size_t epochs = 0;
  options.on_epoch = [&](const EpochReport& report) {
    ++epochs;
    EXPECT_GT(report.seconds, 0);
    EXPECT_GT(report.evaluation_s, 0);
    const auto trainings =
        std::count_if(report.timeline.begin(), report.timeline.end(),
                      [](const auto& span) { return span.stage == schedule::Stage::train; });
    EXPECT_EQ(trainings, batches_an_epoch);
  };
  train(graph_of_tests(), options);
  EXPECT_EQ(epochs, 2U);
  ASSERT_EQ(std::ssize(done), 2 * batches_an_epoch);
  EXPECT_EQ(done.front(), 1);
  EXPECT_EQ(done.back(), batches_an_epoch);
}

TEST(Trainer, AFaultInAStageEndsTheRunWithItsError) {
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = claim_ahead_plan(3, 2)};
  options.before_stage = [](schedule::Stage stage, std::int64_t batch) {
    if (stage == schedule::Stage::cpu_batch && batch > 5) {
      throw base::Failure("worker", "broke");
    }
  };
  EXPECT_THROW(train(graph_of_tests(), options), base::Failure);
}

std::string error_of(const graph::Graph& graph, const TrainOptions& options) {
  try {
    train(graph, options);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Trainer, RefusesWhatCannotBeTrained) {
  const TrainOptions good{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  auto no_training = graph_of_tests();
  no_training.train = {};
  EXPECT_NE(error_of(no_training, good).find("train"), std::string::npos);
  auto bad = good;
  bad.job.fanouts = {5, 0};
  EXPECT_NE(error_of(graph_of_tests(), bad).find("fanouts"), std::string::npos);
  bad = good;
  bad.plan.workers = 0;
  EXPECT_NE(error_of(graph_of_tests(), bad).find("resolve"), std::string::npos);
  bad = good;
  bad.replay = {first_batches(batches_an_epoch)};
  EXPECT_NE(error_of(graph_of_tests(), bad).find("epochs"), std::string::npos);
  bad.replay.push_back(first_batches(batches_an_epoch - 1));
  EXPECT_NE(error_of(graph_of_tests(), bad).find("epoch 2"), std::string::npos);
  bad.replay[1].push_back(3);
  EXPECT_NE(error_of(graph_of_tests(), bad).find("once"), std::string::npos);
}

TEST(Trainer, ResumeRefusesAnotherJobAnotherGraphAndADamagedFile) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.epochs = 1;
  train(graph_of_tests(), options);

  auto other = options;
  other.job.hidden = 16;
  EXPECT_NE(error_of(graph_of_tests(), other)
                .find("checkpoint.pt: job.hidden: the run was started with 32, not 16"),
            std::string::npos);
  other = options;
  other.job.seed = 6;
  EXPECT_NE(
      error_of(graph_of_tests(), other).find("checkpoint.pt: job.seed: the run was started with 5, not 6"),
      std::string::npos);
  auto changed = graph_of_tests();
  std::vector<std::int32_t> labels(changed.labels.begin(), changed.labels.end());
  std::swap(labels[0], labels[1]);
  changed.labels = labels;
  EXPECT_NE(error_of(changed, options).find("checkpoint.pt: graph: the run was started with a graph of the"),
            std::string::npos);
  changed = graph_of_tests();
  changed.valid = changed.valid.subspan(1);
  EXPECT_NE(error_of(changed, options).find("checkpoint.pt: graph.valid: the run was started with"),
            std::string::npos);

  const auto path = directory.path() / "checkpoint.pt";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_NE(error_of(graph_of_tests(), options).find("checkpoint.pt: is damaged, or no checkpoint"),
            std::string::npos);
  std::ofstream(path) << "not a checkpoint";
  EXPECT_NE(error_of(graph_of_tests(), options).find("checkpoint.pt: is damaged, or no checkpoint"),
            std::string::npos);
}

TEST(Trainer, AFullDiskIsAFailureAndThePreviousCheckpointIsIntact) {
  const test::TemporaryDirectory directory;
  if (::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "a small tmpfs cannot be mounted here (not root?)";
  }
  const auto unmount = std::shared_ptr<void>(nullptr, [&](void*) { ::umount(directory.path().c_str()); });
  TrainOptions options{.job = small_job(ModelKind::sage), .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.epochs = 1;
  train(graph_of_tests(), options);
  // What is left of the disk goes to another file, and the next checkpoint does not fit.
  {
    std::ofstream filler(directory.path() / "filler");
    const std::string block(4096, 'x');
    while (filler.write(block.data(), 4096).flush()) {
    }
  }
  options.job.epochs = 2;
  try {
    train(graph_of_tests(), options);
    FAIL() << "no error";
  } catch (const base::Failure& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
  std::filesystem::remove(directory.path() / "filler");
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash,
            run(small_job(ModelKind::sage), sequential_plan()).weights_hash);
}

}  // namespace
}  // namespace gnomon::runtime
