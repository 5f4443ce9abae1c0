#include "tuner/run/replanning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "plan/exactness.h"
#include "profiles/measure/workload.h"
#include "sim/predict.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/temporary_directory.h"
#include "tuner/run/plan_changes.h"
#include "tuner/run/replanned_training.h"
#include "tuner/sensitivity.h"

namespace gnomon::tuner {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t epoch_batches = 400;

profiles::Profile host_profile(const test::StageMeans& means = {0.02, 0, 0.02, 0.03}) {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, epoch_batches, means);
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 1e10;
  return profile;
}

plan::Plan resolved(const std::string& name, const profiles::Profile& profile) {
  return plan::resolve(plan::find_plan(name), profiles::cores_of(profile), name);
}

/// A machine that is simulated instead of run, and may differ from the profile that a replanner knows.
class Trained {
 public:
  explicit Trained(Replanner& replanner) : replanner_(replanner) {}

  /// Trains stretches on a machine of this profile.
  void stretches(int count, const profiles::Profile& truth) {
    for (int i = 0; i < count; ++i) {
      runtime::StretchReport report;
      report.stretch = replanner_.next_stretch(epoch_batches);
      report.epoch = number_++;
      auto told =
          sim::predict(simulator_, shortened(truth, report.stretch.batches), report.stretch.plan, true);
      report.log.end_s = told.epoch_s;
      report.timeline = std::move(told.timeline);
      replanner_.on_stretch(report);
    }
  }

 private:
  Replanner& replanner_;
  sim::Simulator simulator_;
  std::int64_t number_ = 0;
};

TEST(Replanner, ComparesNothingOnAMachineThatIsAsPredicted) {
  const auto profile = host_profile();
  Replanner replanner(profile, resolved("gnomon", profile), 30);
  Trained(replanner).stretches(20, profile);
  EXPECT_THAT(replanner.log(), IsEmpty());
}

TEST(Replanner, LeavesBurstsAlone) {
  const auto profile = host_profile();
  const auto slow = host_profile({0.2, 0, 0.2, 0.03});
  Replanner replanner(profile, resolved("gnomon", profile), 30);
  Trained trained(replanner);
  for (int i = 0; i < 6; ++i) {
    trained.stretches(3, profile);
    trained.stretches(1, slow);
  }
  EXPECT_THAT(replanner.log(), IsEmpty());
}

TEST(Replanner, KeepsAPlanThatIsStillTheBest) {
  const auto profile = host_profile();
  const auto slow = host_profile({0.06, 0, 0.06, 0.09});
  Replanner replanner(profile, resolved("gnomon", profile), 30);
  Trained trained(replanner);
  trained.stretches(100, slow);
  ASSERT_EQ(replanner.finished(), 1U);
  EXPECT_EQ(replanner.log().front().from, replanner.log().front().to);
  EXPECT_NEAR(replanner.log().front().drift, 3, 0.01);
  EXPECT_NEAR(replanner.log().front().stages.train->ratio, 3, 0.01);
}

// Workers that take ten times as long are left for the device's own threads; once they have recovered, which
// the stages of the plan do not tell, plans are compared again.
TEST(Replanner, ChangesToThePlanThatIsBestNowAndBack) {
  const auto profile = host_profile();
  const auto slow_workers = host_profile({2, 0, 0.02, 0.03});
  Replanner replanner(profile, resolved("dgl", profile), 100, {.compared_after = 10});
  Trained trained(replanner);
  trained.stretches(4, profile);
  trained.stretches(60, slow_workers);
  ASSERT_GE(replanner.finished(), 1U);
  const auto first = replanner.log().front();
  EXPECT_EQ(first.from, "dgl");
  EXPECT_GT(first.drift, 1.2);
  EXPECT_GT(first.turns, 2);
  EXPECT_GT(first.gain.value(), 0.5);
  EXPECT_GT(first.predicted_gain, 0.5);
  sim::Simulator simulator;
  const auto epoch_s = [&](const profiles::Profile& truth, const plan::Plan& plan) {
    return sim::predict(simulator, truth, plan).epoch_s;
  };
  EXPECT_LT(epoch_s(slow_workers, replanner.plan()),
            1.02 * epoch_s(slow_workers, resolved("device", profile)));

  trained.stretches(300, profile);
  EXPECT_LT(epoch_s(profile, replanner.plan()), 1.06 * epoch_s(profile, resolved("gnomon", profile)));
}

// What a change brought is what a mini-batch takes after it, against what it took before: the simulated
// truth.
TEST(Replanner, TellsWhatAChangeBrought) {
  const auto profile = host_profile();
  const auto slow_workers = host_profile({2, 0, 0.02, 0.03});
  Replanner replanner(profile, resolved("dgl", profile), 100);
  Trained trained(replanner);
  trained.stretches(4, profile);
  for (int i = 0; i < 60 && replanner.finished() == 0; ++i) {
    trained.stretches(1, slow_workers);
  }
  ASSERT_EQ(replanner.finished(), 1U);
  EXPECT_TRUE(replanner.log().front().is_change());
  EXPECT_FALSE(replanner.log().front().brought()) << "nothing was trained with the new plan yet";
  EXPECT_EQ(replanner.known_effects(), 0U);
  trained.stretches(4, slow_workers);
  EXPECT_EQ(replanner.known_effects(), 1U);
  const auto first = replanner.log().front();
  sim::Simulator simulator;
  const auto batch_s = [&](const std::string& plan, const profiles::Profile& truth) {
    return sim::predict(simulator, truth, resolved(plan, profile)).epoch_s / epoch_batches;
  };
  EXPECT_NEAR(first.before_batch_s.value(), batch_s("dgl", slow_workers), 0.1 * batch_s("dgl", slow_workers));
  const double after_s = sim::predict(simulator, slow_workers, replanner.plan()).epoch_s / epoch_batches;
  EXPECT_NEAR(first.after_batch_s.value(), after_s, 0.05 * after_s);
  EXPECT_NEAR(first.brought().value(), 1 - *first.after_batch_s / *first.before_batch_s, 1e-12);
  const auto document = base::write_value(first);
  EXPECT_EQ(document["after_batch_s"], *first.after_batch_s);
}

// The device's own preparation is predicted to be as far off as the rest, but is far slower: a few turns
// tell.
TEST(Replanner, TurnsDecideWherePredictionsAreWrong) {
  const auto profile = host_profile();
  const auto truth = host_profile({0.2, 0, 2.0, 0.03});
  Replanner replanner(profile, resolved("dgl", profile), 100, {.compared_after = 10});
  Trained(replanner).stretches(300, truth);
  sim::Simulator simulator;
  EXPECT_LT(sim::predict(simulator, truth, replanner.plan()).epoch_s,
            1.02 * sim::predict(simulator, truth, resolved("dgl", profile)).epoch_s);
  double extra_s = 0;
  for (const auto& replanned : replanner.log()) {
    extra_s += replanned.extra_s;
  }
  EXPECT_LE(replanner.log().size(), 6U);
  EXPECT_LT(extra_s, 0.1 * 100 * sim::predict(simulator, truth, resolved("dgl", profile)).epoch_s);
}

TEST(PlansToChangeTo, EndWithTheSameBitsAndLeaveDataWhereItIs) {
  const auto profile = host_profile();
  const auto own = resolved("gnomon", profile);
  const auto plans = plans_to_change_to(own, {.count = 8, .device = plan::DeviceKind::host});
  EXPECT_EQ(plans.front(), own);
  EXPECT_GT(plans.size(), 20U);
  std::set<plan::Schedule> schedules;
  std::set<int> workers;
  for (const auto& plan : plans) {
    EXPECT_EQ(plan::exactness_of(plan), plan::Exactness::bits) << plan.name;
    EXPECT_EQ(plan.features, own.features);
    EXPECT_EQ(plan.cache, own.cache);
    schedules.insert(plan.schedule);
    workers.insert(plan.workers);
  }
  EXPECT_GE(schedules.size(), 2U);
  EXPECT_TRUE(workers.contains(8));
}

class ReplannedTrainingTest : public ::testing::Test {
 protected:
  ReplannedTrainingTest() : graph(graph::generate_in_memory(test::tiny_partition())) {
    job.fanouts = {4, 3};
    job.batch_size = 16;
    job.hidden = 8;
    job.epochs = 12;
    profiles::MeasureOptions measure;
    measure.asked_interval = 0.2;
    measure.time_limit_s = 1;
    profile = profiles::measure(graph, job, measure);
  }
  TrainingRun run_in(const std::string& name) const {
    TrainingRun run;
    run.files = {place.path() / name};
    std::filesystem::create_directory(run.files.directory);
    run.job = job;
    run.plan = plan::resolve(plan::find_plan("device"), profiles::cores_of(profile), "device");
    return run;
  }

  test::TemporaryDirectory place;
  graph::Graph graph;
  plan::Job job;
  profiles::Profile profile;
};

// A profile of a faster machine makes the training compare plans; the weights do not tell.
TEST_F(ReplannedTrainingTest, EndsWithTheSameBits) {
  auto wrong = profile;
  wrong.workload.cpu_batch.mean_s /= 3;
  wrong.workload.device_batch.mean_s /= 3;
  wrong.workload.train.mean_s /= 3;
  wrong.workload.parts = {};
  std::vector<std::string> told;
  const auto replanned =
      train_replanning(graph, run_in("replanned"), wrong, {.stretch_s = 0, .compared_after = 2},
                       [&](const Replanned& of) { told.push_back(of.to); });
  const auto plain = run_training(graph, run_in("plain"));
  ASSERT_FALSE(told.empty());
  int turns = 0;
  for (const auto& of : replanned.log) {
    turns += of.turns;
  }
  EXPECT_GT(turns, 0);
  EXPECT_EQ(replanned.training.report.weights_hash, plain.report.weights_hash);
  const auto document = base::Json::parse(base::read_file(place.path() / "replanned/replanning.json"));
  EXPECT_EQ(document["comparisons"][0]["to"], told.front());
  EXPECT_EQ(plan::read_plan(place.path() / "replanned/plan.json").name, told.back());
}

TEST_F(ReplannedTrainingTest, WrongProfilesAndPlansAreRefused) {
  const auto refused = [&](const profiles::Profile& known, const TrainingRun& run) -> std::string {
    try {
      check_replanning(known, graph, run);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto run = run_in("refused");
  EXPECT_EQ(refused(profile, run), "");
  auto other = profile;
  other.machine.cpu.cores = 4096;
  EXPECT_THAT(refused(other, run), HasSubstr("machine.cpu.cores: 4096 are more"));
  other = profile;
  other.workload.vertices += 1;
  EXPECT_THAT(refused(other, run), HasSubstr("workload.vertices"));
  auto as_ready = run;
  as_ready.plan.order = plan::Order::as_ready;
  as_ready.plan.schedule = plan::Schedule::pipelined;
  as_ready.plan.route = plan::Route::cpu;
  EXPECT_THAT(refused(profile, as_ready), HasSubstr("same bits"));
}

}  // namespace
}  // namespace gnomon::tuner
