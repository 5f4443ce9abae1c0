#include "tuner/explore/exploration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/costs/costs.h"
#include "sim/predict.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"
#include "tests/random_seed.h"
#include "tests/sim/random_profiles.h"

namespace gnomon::tuner {
namespace {

ExplorationRow row_of(const std::string& name, double epoch_s, std::optional<double> price,
                      const std::string& why_not_run = "") {
  ExplorationRow row;
  row.plan.name = name;
  row.prediction.emplace();
  row.prediction->epoch_s = epoch_s;
  row.prediction->consumption.price = price;
  row.why_not_run = why_not_run;
  return row;
}

std::vector<std::string> names(const std::vector<ExplorationRow>& rows, RowOrder order) {
  std::vector<std::string> names;
  for (const auto* row : sorted(rows, order)) {
    names.push_back(row->plan.name);
  }
  return names;
}

TEST(SortedRows, RunnableOnesComeFirstByEpochOrPrice) {
  std::vector<ExplorationRow> rows = {row_of("simulated", 0.5, 0.1, "needs a GPU"),
                                      row_of("fast, dear", 1, 3), row_of("fastest, no price", 0.9, {}),
                                      row_of("slow, cheap", 4, 2), row_of("slower, as cheap", 5, 2)};
  rows.emplace_back();
  rows.back().plan.name = "impossible";
  rows.back().why_not = "does not fit";
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(rows, RowOrder::epoch), (Names{"fastest, no price", "fast, dear", "slow, cheap",
                                                 "slower, as cheap", "simulated", "impossible"}));
  EXPECT_EQ(names(rows, RowOrder::price), (Names{"slow, cheap", "slower, as cheap", "fast, dear",
                                                 "fastest, no price", "simulated", "impossible"}));
}

ExploredProfile profile_with_speeds() {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 30, {0.02, 0, 0.02, 0.04});
  profile.workload.feature_columns = 64;
  profile.workload.feature_row_bytes = 256;
  profile.workload.batch_vertices = 500;
  profile.workload.batch_edges = 2000;
  profile.workload.job.fanouts = {20, 8};
  profile.workload.job.hidden = 32;
  profile.machine_speeds = test::uniform_speeds(1e9);
  return {.document = base::to_document(profile), .where = "p.json", .names = {}};
}

/// The rows of sweeps of the profile's fields, with epochs of mini-batches that are prepared and trained in
/// turn.
std::vector<ExplorationRow> swept(const std::vector<Sweep>& sweeps) {
  ExplorationRequest request{
      .profiles = {profile_with_speeds()}, .plans = plans_of("device"), .sweeps = sweeps};
  request.quickly = true;
  return explore(request, {});
}

TEST(ExploredModels, ChangeTrainingAndNothingElse) {
  const auto rows = swept({{"workload.job.hidden", {"32", "256"}}, {"workload.job.epochs", {"5"}}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].prediction->epoch_s, 30 * (0.02 + 0.04), 1e-9) << "as it was measured";
  EXPECT_TRUE(rows[0].extrapolations.empty());
  EXPECT_EQ(rows[0].epochs, 5);
  const auto profile = changed_profile(profile_with_speeds(), {{"workload.job.hidden", "256"}});
  EXPECT_GT(profile.workload.train.mean_s, 0.06);
  EXPECT_NEAR(rows[1].prediction->epoch_s, 30 * (0.02 + profile.workload.train.mean_s), 1e-9);
  EXPECT_EQ(rows[1].extrapolations,
            std::vector<std::string>{
                "another model than measured (hidden 32): training by counts of operations and "
                "the machine's speeds"});
}

TEST(ExploredModels, MayDifferInSeveralFields) {
  const auto profile = changed_profile(profile_with_speeds(), {{"workload.job.model", "gat"},
                                                               {"workload.job.heads", "2"},
                                                               {"plan.workers", "1"},
                                                               {"workload.batches", "7"}});
  EXPECT_EQ(profile.workload.job.model, plan::ModelKind::gat);
  EXPECT_EQ(profile.workload.job.heads, 2);
  EXPECT_EQ(profile.workload.batches, 7);
  EXPECT_NE(profile.workload.train.mean_s, 0.04);
}

/// Of two hardware threads of a core, as a short measurement or one with speeds leaves it.
profiles::Profile measured_on_two(bool has_points, bool has_speeds) {
  auto profile = base::from_document<profiles::Profile>(profile_with_speeds().document, "p.json");
  for (auto* time : {&profile.workload.cpu_batch, &profile.workload.device_batch, &profile.workload.train}) {
    time->interval_s = 0.01 * time->mean_s;
  }
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 1e10;
  profile.machine.contention = {.cpu_batch_beside_train = 1.3, .train_beside_cpu_batch = 1.6};
  auto& workload = profile.workload;
  for (auto* points : {&workload.worker_efficiency, &workload.cpu_batch_speedup, &workload.train_speedup,
                       &workload.device_batch_speedup}) {
    *points = {{1, 1}};
  }
  if (has_points) {
    workload.worker_efficiency.push_back({2, 0.7});
    workload.train_speedup.push_back({2, 1.3});
    workload.device_batch_speedup.push_back({2, 1.2});
  }
  if (!has_speeds) {
    profile.machine_speeds.reset();
    return profile;
  }
  const auto one = profile.machine_speeds->speeds;
  for (profiles::Speed speed : one) {
    if (speed.work != profiles::Work::operations) {
      speed.threads = 2;
      speed.per_s *= 1.3;
      profile.machine_speeds->speeds.push_back(speed);
    }
  }
  return profile;
}

std::vector<ExplorationRow> on_more_cores(const profiles::Profile& profile, const std::string& plans,
                                          std::vector<Sweep> sweeps) {
  ExplorationRequest request{
      .profiles = {{.document = base::to_document(profile), .where = "p.json", .names = {}}},
      .plans = plans_of(plans),
      .sweeps = std::move(sweeps)};
  request.quickly = true;
  request.with_explanation = true;
  return explore(request, {});
}

// The question of README: each plan is faster with more cores, and the less certain the further from what was
// measured.
TEST(MoreCores, MakeEpochsShorterAndLessCertain) {
  for (const bool has_points : {false, true}) {
    for (const bool has_speeds : {false, true}) {
      for (const char* plan : {"device", "dgl", "gnomon"}) {
        const auto rows = on_more_cores(measured_on_two(has_points, has_speeds), plan,
                                        {{"machine.cpu.cores", {"2", "8", "32"}}});
        ASSERT_EQ(rows.size(), 3U);
        for (std::size_t i = 1; i < rows.size(); ++i) {
          EXPECT_LT(rows[i].prediction->epoch_s, 0.9 * rows[i - 1].prediction->epoch_s) << plan;
          EXPECT_GT(*rows[i].interval_s / rows[i].prediction->epoch_s,
                    *rows[i - 1].interval_s / rows[i - 1].prediction->epoch_s)
              << plan;
          EXPECT_EQ(rows[i].rests_on, has_speeds ? profiles::RestsOn::speeds : profiles::RestsOn::assumed);
          EXPECT_THAT(rows[i].rests_on_why, ::testing::HasSubstr("than measured ("));
          EXPECT_FALSE(rows[i].extrapolations.empty());
        }
        EXPECT_EQ(rows[0].rests_on == profiles::RestsOn::measured,
                  has_points || plan != std::string("device"));
      }
    }
  }
}

/// A random machine with points, of which those of training are sometimes on one thread only. All workers
/// together do not do less than fewer ones.
profiles::Profile random_measured(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  auto profile = test::random_profile(random, 5000, 0);
  const int cores = profile.machine.cpu.cores;
  profile.workload.worker_efficiency = {{1, 1}, {cores, 0.7 + 0.3 * uniform(random)}};
  profile.workload.train_speedup = {{1, 1}, {cores, 1 + (cores - 1) * uniform(random)}};
  profile.workload.train_speedup.resize(1 + random() % 2);
  return profile;
}

profiles::Profile with_cores(profiles::Profile profile, int cores) {
  const auto measured = profiles::measured_on(profile);
  profile.machine.cpu.cores = cores;
  return profiles::extended(std::move(profile), measured).profile;
}

// Plans with as many workers and threads as the cores allow, in a long epoch: each of more workers may take
// longer for the first mini-batches. Plans that prepare on two routes, or share the
// disk, go by what is done first, so that shorter stages may make an epoch longer.
TEST(MoreCores, NeverMakeAPlanSlower) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    auto profile = random_measured(random);
    profile.machine.contention = {};
    profile.workload.parts.cpu_batch_memory_bytes.reset();
    for (const auto& plan : plan::presets()) {
      double before_s = std::numeric_limits<double>::infinity();
      const bool is_greedy = plan.route == plan::Route::both || plan.features == plan::Home::disk;
      for (int cores = profile.machine.cpu.cores; cores < 200 && !is_greedy; cores = 3 * cores / 2) {
        const auto changed = with_cores(profile, cores);
        try {
          const double epoch_s = sim::predict_quickly(changed, sim::resolve_on(changed, plan)).epoch_s;
          EXPECT_LE(epoch_s, 1.02 * before_s) << plan.name << " on " << cores;
          before_s = epoch_s;
        } catch (const base::InputError&) {
          break;  // not a plan of this machine
        }
      }
    }
  }
}

// With the same workers and threads, no stage and no slowdown.
TEST(MoreCores, NeverMakeAStageSlower) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const auto profile = random_measured(random);
    const auto more = with_cores(profile, 3 * profile.machine.cpu.cores);
    const auto before = base::write_value(profile.machine.contention);
    const auto after = base::write_value(more.machine.contention);
    for (const auto& [name, slowdown] : before.items()) {
      EXPECT_LE(after.at(name).get<double>(), slowdown.get<double>()) << name;
    }
    for (const auto& plan : test::random_presets(random, profile)) {
      try {
        const auto costs = sim::costs_of_plan(profile, sim::resolve_on(profile, plan)).costs;
        const auto there = sim::costs_of_plan(more, sim::resolve_on(more, plan)).costs;
        EXPECT_LE(there.cpu_batch_s, costs.cpu_batch_s * (1 + 1e-12)) << plan.name;
        EXPECT_LE(there.train_s, costs.train_s * (1 + 1e-12)) << plan.name;
        EXPECT_LE(there.device_batch_s, costs.device_batch_s * (1 + 1e-12)) << plan.name;
      } catch (const base::InputError&) {
        continue;  // not a plan of this machine
      }
    }
  }
}

TEST(RestsOn, FieldsThatAreGiven) {
  const auto profile = measured_on_two(true, true);
  const auto on = [&](const char* path, const char* value) {
    return on_more_cores(profile, "device", {{path, {value}}}).front().rests_on;
  };
  EXPECT_EQ(on("machine.cpu.cores", "2"), profiles::RestsOn::measured);
  EXPECT_EQ(on("workload.job.epochs", "7"), profiles::RestsOn::measured);
  EXPECT_EQ(on("workload.job.hidden", "64"), profiles::RestsOn::speeds);
  EXPECT_EQ(on("machine.device.link_saturation_share", "0.3"), profiles::RestsOn::data_sheet);
  EXPECT_EQ(on("workload.train.mean_s", "1"), profiles::RestsOn::assumed);
}

TEST(RestsOn, NumbersThatWereNeverMeasured) {
  auto profile = measured_on_two(true, false);
  profile.beliefs = {{.of = "train_speedup@2", .deviation = 0.2, .samples = 0}};
  const auto row = on_more_cores(profile, "device", {}).front();
  EXPECT_EQ(row.rests_on, profiles::RestsOn::assumed);
  EXPECT_EQ(row.rests_on_why, "more threads that train than measured (1): believed before a measurement");
  profile.beliefs.front() = {.of = "fused_train_ratio", .deviation = 0.2, .samples = 0};
  EXPECT_EQ(on_more_cores(profile, "device", {}).front().rests_on, profiles::RestsOn::measured)
      << "of another plan";
  profile.beliefs.front() = {.of = "train_speedup@2", .deviation = 0.2, .samples = 3};
  EXPECT_EQ(on_more_cores(profile, "device", {}).front().rests_on, profiles::RestsOn::measured);
}

TEST(Explanations, GoFromCountsToTheEpoch) {
  const auto row =
      on_more_cores(measured_on_two(true, true), "gnomon", {{"machine.cpu.cores", {"8"}}}).front();
  using ::testing::HasSubstr;
  ASSERT_GE(row.explanation.size(), 6U);
  EXPECT_LE(row.explanation.size(), 12U);
  std::string text;
  for (const auto& line : row.explanation) {
    text += line + "\n";
  }
  EXPECT_THAT(text, HasSubstr("train, counts over measured speeds: "));
  EXPECT_THAT(text, HasSubstr("measured 40 ms"));
  EXPECT_THAT(text, HasSubstr("train, speed-up: 4 threads x"));
  EXPECT_THAT(text, HasSubstr(": x1.3 on 2, times the counts' x"));
  EXPECT_THAT(text, HasSubstr("hardware threads share cores"));
  EXPECT_THAT(text, HasSubstr("stages with this plan: cpu_batch "));
  EXPECT_THAT(row.explanation.back(), HasSubstr("epoch: 30 mini-batches"));
}

}  // namespace
}  // namespace gnomon::tuner
