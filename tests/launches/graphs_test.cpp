#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <sstream>
#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "tests/launches/double_device.h"
#include "tests/launches/double_kernels.h"
#include "tests/launches/toy_training.h"

// Training steps whose launches are recorded once and replayed, on the double of a GPU.

namespace gnomon::nn {
namespace {

using plan::ModelKind;
using test::Batches;
using test::double_device;
using test::job_of;
using test::learner_of;

/// Mini-batches of an epoch that are trained; the last one is not whole.
std::vector<std::int64_t> batches_of(const plan::Job& job) {
  const std::int64_t all = graph::num_batches(std::ssize(test::toy().train), job.batch_size);
  return {0, 1, 2, all - 1};
}

/// Trains one learner on the double device.
class Training {
 public:
  Training(const plan::Job& job, bool uses_graphs)
      : job_(job), learner_(learner_of(job, double_device())), batches_(job) {
    learner_.use_graphs(uses_graphs);
  }

  /// Returns the launches that were counted as such: kernels of ours, replays, and LibTorch's operations.
  std::int64_t step(std::int64_t epoch, std::int64_t batch) {
    const auto data = test::on_double_device(runtime::view_of(batches_.prepare(batch, epoch)), job_);
    const auto before = sums.read().loss_sum;
    (void)test::take_kernels();
    (void)test::take_operations();
    learner_.step(data, epoch, batch, sums);
    std::int64_t launches = test::take_kernels();
    for (const auto& [name, count] : test::take_operations()) {
      launches += count;
    }
    losses.push_back(sums.read().loss_sum - before);
    return launches;
  }
  void epoch(std::int64_t epoch) {
    for (const auto batch : batches_of(job_)) {
      step(epoch, batch);
    }
  }
  Learner& learner() { return learner_; }
  std::string hash() { return hash_of(learner_.model().parameters()); }

  StepSums sums;
  std::vector<double> losses;  ///< of each step

 private:
  plan::Job job_;
  Learner learner_;
  Batches batches_;
};

struct GraphCase {
  ModelKind model;
  plan::Norm norm;
};

void PrintTo(const GraphCase& c, std::ostream* stream) {
  *stream << base::name_of(c.model) << ", norm " << base::name_of(c.norm);
}

class StepGraphsOf : public testing::TestWithParam<GraphCase> {
 protected:
  plan::Job job_ = job_of(GetParam().model, GetParam().norm);
};

INSTANTIATE_TEST_SUITE_P(EveryModel, StepGraphsOf,
                         testing::Values(GraphCase{ModelKind::sage, plan::Norm::none},
                                         GraphCase{ModelKind::sage, plan::Norm::layer},
                                         GraphCase{ModelKind::gcn, plan::Norm::none},
                                         GraphCase{ModelKind::gat, plan::Norm::none},
                                         GraphCase{ModelKind::gat, plan::Norm::layer}));

/// With the same elements dropped, the same learning rates and steps of Adam, on all sizes of mini-batches.
TEST_P(StepGraphsOf, TrainAsStepsWithout) {
  job_.lr_schedule = plan::LrSchedule::cosine;
  job_.epochs = 4;
  Training expected(job_, false), found(job_, true);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    expected.epoch(epoch);
    found.epoch(epoch);
  }
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  for (std::size_t step = 0; step < found.losses.size(); ++step) {
    EXPECT_NEAR(found.losses[step], expected.losses[step], 2e-3 * job_.batch_size) << "step " << step;
  }
  EXPECT_EQ(found.sums.read().seeds, expected.sums.read().seeds);
  EXPECT_NEAR(static_cast<double>(found.sums.read().correct),
              static_cast<double>(expected.sums.read().correct), 8);
  const auto left = found.learner().model().parameters();
  const auto right = expected.learner().model().parameters();
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_TRUE(at::allclose(left[i].cpu(), right[i].cpu(), 1e-2, 1e-3)) << "weight " << i;
  }
}

TEST_P(StepGraphsOf, TakeTwoLaunchesAfterTheFirstEpoch) {
  Training training(job_, true);
  for (const auto batch : batches_of(job_)) {
    EXPECT_GT(training.step(0, batch), profiles::launches_of_graph_step);
  }
  training.step(1, 0);  // records
  for (const auto batch : {1, 2}) {
    EXPECT_EQ(training.step(1, batch), profiles::launches_of_graph_step);
  }
}

/// At any place, of the first epoch, too: what it has taught so far is saved.
TEST_P(StepGraphsOf, ResumeWithTheSameBits) {
  constexpr std::int64_t epochs = 3;
  const auto batches = batches_of(job_);
  Training uninterrupted(job_, true);
  std::vector<std::string> saved;
  for (std::int64_t step = 0; step < epochs * std::ssize(batches); ++step) {
    uninterrupted.step(step / std::ssize(batches),
                       batches[static_cast<std::size_t>(step % std::ssize(batches))]);
    torch::serialize::OutputArchive archive;
    uninterrupted.learner().save(archive);
    std::ostringstream bytes;
    archive.save_to(bytes);
    saved.push_back(bytes.str());
  }
  for (const std::int64_t first : {2, 4, 5, 7}) {
    Training resumed(job_, true);
    std::istringstream bytes(saved[static_cast<std::size_t>(first - 1)]);
    torch::serialize::InputArchive archive;
    archive.load_from(bytes);
    resumed.learner().load(archive);
    for (std::int64_t step = first; step < epochs * std::ssize(batches); ++step) {
      resumed.step(step / std::ssize(batches), batches[static_cast<std::size_t>(step % std::ssize(batches))]);
    }
    EXPECT_EQ(resumed.hash(), uninterrupted.hash()) << "from step " << first;
  }
}

/// Batches of more seeds than the first epoch had.
TEST(StepGraphs, TrainWhatHasNoRoomWithoutAndMakeRoomForTheNextEpoch) {
  auto small = job_of(ModelKind::sage);
  small.batch_size = 32;
  auto job = small;
  job.batch_size = 128;
  Batches small_batches(small), batches(job);
  auto learner = learner_of(job, double_device());
  learner.use_graphs(true);
  StepSums sums;
  const auto launches = [&](Batches& of, std::int64_t epoch, std::int64_t batch) {
    const auto data = test::on_double_device(runtime::view_of(of.prepare(batch, epoch)), job);
    (void)test::take_kernels();
    learner.step(data, epoch, batch, sums);
    return test::take_kernels();
  };
  (void)launches(small_batches, 0, 0);
  (void)launches(small_batches, 1, 0);
  EXPECT_EQ(launches(small_batches, 1, 0), profiles::launches_of_graph_step);
  EXPECT_GT(launches(batches, 1, 1), profiles::launches_of_graph_step);
  EXPECT_EQ(launches(small_batches, 1, 0), profiles::launches_of_graph_step) << "what fits is still replayed";
  (void)launches(batches, 2, 1);
  EXPECT_EQ(launches(batches, 2, 1), profiles::launches_of_graph_step);
  EXPECT_EQ(launches(small_batches, 2, 0), profiles::launches_of_graph_step);
}

/// A plan without graphs may follow, and one with them again.
TEST(StepGraphs, TakeTurnsWithStepsWithout) {
  const auto job = job_of(ModelKind::gcn);
  Training expected(job, false), found(job, true);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    found.learner().use_graphs(epoch != 2);
    expected.epoch(epoch);
    found.epoch(epoch);
  }
  for (std::size_t step = 0; step < found.losses.size(); ++step) {
    EXPECT_NEAR(found.losses[step], expected.losses[step], 2e-3 * job.batch_size) << "step " << step;
  }
}

/// On a multi-label graph, and both as the CPU trains.
TEST(StepGraphs, TrainOnSeveralClassesPerVertex) {
  auto job = job_of(ModelKind::sage);
  const auto graph = test::with_label_sets(test::toy(), 4);
  Learner on_cpu(job, graph.features.columns, graph.num_classes, at::kCPU, label_sets_of(graph, at::kCPU));
  auto without = test::multilabel_learner_of(job);
  auto recorded = test::multilabel_learner_of(job);
  recorded.use_graphs(true);
  Batches batches(job);
  StepSums of_cpu, of_without, of_recorded;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (const auto batch : batches_of(job)) {
      const auto host = runtime::view_of(batches.prepare(batch, epoch));
      on_cpu.step(host, epoch, batch, of_cpu);
      without.step(test::on_double_device(host, job), epoch, batch, of_without);
      recorded.step(test::on_double_device(host, job), epoch, batch, of_recorded);
    }
  }
  const auto expected = of_cpu.read();
  for (const auto& found : {of_without.read(), of_recorded.read()}) {
    EXPECT_EQ(found.seeds, expected.seeds);
    EXPECT_NEAR(found.loss_sum, expected.loss_sum, 2e-3 * expected.loss_sum);
    EXPECT_NEAR(static_cast<double>(found.correct), static_cast<double>(expected.correct), 16);
  }
}

TEST(StepGraphs, RefuseBatchNormalisation) {
  auto learner = learner_of(job_of(ModelKind::sage, plan::Norm::batch), double_device());
  EXPECT_THROW(learner.use_graphs(true), c10::Error);
}

}  // namespace
}  // namespace gnomon::nn
