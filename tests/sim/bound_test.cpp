#include "sim/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sim/simulator.h"
#include "tests/random_seed.h"
#include "tests/sim/random_cases.h"

namespace gnomon::sim {
namespace {

using plan::Route;

TEST(LowerBound, HandComputed) {
  // 10 batches, 2 workers. n_c by the CPU route: the device does 10 * 1 + (10 - n_c) * 3, the link
  // (10 - n_c) * 2 + n_c * 1, the workers n_c * 8 / 2. At 5: 25, 15, 20; at 6: 22, 14, 24; so 24 at 6.
  MachineModel model{
      .cores = 2,
      .workers = 2,
      .costs = {
          .cpu_batch_s = 8, .transfer_s = 1, .device_batch_s = 3, .device_batch_link_s = 2, .train_s = 1}};
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::both, 10), 24);
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 10), 40);
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::device, 10), 40);
  // A host device of two threads: the two cores do n_c * (8 + 1) + 2 * (10 * 1 + (10 - n_c) * 3) seconds. At
  // 0: 40; each CPU batch adds 9 - 6 = 3 to that: 80 / 2 = 40 at 0 for the cores and 40 for the device; at 1
  // 83 / 2 = 41.5 and 37. So 40 at 0.
  model.host_device = true;
  model.device_threads = model.prepare_threads = 2;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::both, 10), 40);
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 10), (10 * 9 + 2 * 10) / 2.0);
}

/// systems.md's formula, one n_c after the other.
double by_trial(const MachineModel& model, std::int64_t batches) {
  const StageCosts& costs = model.costs;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t by_cpu = 0; by_cpu <= batches; ++by_cpu) {
    const auto cpu = static_cast<double>(by_cpu);
    const auto device = static_cast<double>(batches - by_cpu);
    const auto all = static_cast<double>(batches);
    double busiest = std::max({all * costs.train_s + device * costs.device_batch_s,
                               device * costs.device_batch_link_s + cpu * costs.transfer_s,
                               cpu * costs.cpu_batch_s / model.workers});
    if (model.host_device) {
      busiest = std::max(busiest, (cpu * (costs.cpu_batch_s + costs.transfer_s) +
                                   model.device_threads * all * costs.train_s +
                                   model.prepare_threads * device * costs.device_batch_s) /
                                      model.cores);
    }
    least = std::min(least, busiest);
  }
  return least;
}

TEST(LowerBound, IsTheLeastOverAllSplits) {
  const test::RandomSeed seed(314159);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 300);
    MachineModel model = test::random_model(random, 0, 0);
    model.host_device = random() % 2 == 0;
    model.device_threads = 1 + static_cast<int>(random() % 4);
    model.prepare_threads = 1 + static_cast<int>(random() % 4);
    model.cores += static_cast<int>(random() % 3);
    model.costs.device_batch_link_s = model.host_device ? 0 : model.costs.device_batch_s * 0.8;
    const double expected = by_trial(model, batches);
    EXPECT_NEAR(lower_bound_s(model, Route::both, batches), expected, 1e-12 * expected);
  }
}

/// The best assignment of drawn batches to routes, all tried.
double best_assignment(const MachineModel& model, std::int64_t batches) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t by_cpu = 0; by_cpu < (1U << batches); ++by_cpu) {
    double device = 0;
    double link = 0;
    double workers = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const StageCosts costs = model.costs_of(batch);
      const bool cpu = ((by_cpu >> batch) & 1U) != 0;
      device += costs.train_s + (cpu ? 0 : costs.device_batch_s);
      link += cpu ? costs.transfer_s : costs.device_batch_link_s;
      workers += cpu ? costs.cpu_batch_s / model.workers : 0;
    }
    least = std::min(least, std::max({device, link, workers}));
  }
  return least;
}

TEST(LowerBound, OfDrawnBatchesIsUnderTheBestAssignmentAndNear) {
  const test::RandomSeed seed(314160);
  std::mt19937_64 random(seed);
  double sum = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const MachineModel model = test::random_model(random, 12, 0.3);
    const double bound = lower_bound_s(model, Route::both, 12);
    const double best = best_assignment(model, 12);
    EXPECT_LE(bound, best * (1 + 1e-12));
    sum += bound / best;
  }
  EXPECT_GT(sum / 40, 0.95);
}

/// Whatever a machine may have: shared link, shared cores, contention, speed-ups by neighbours too.
MachineModel with_everything(std::mt19937_64& random, MachineModel model) {
  std::uniform_real_distribution<double> slowdown(0.4, 1.4);
  auto& contention = model.contention;
  const auto draw = [&](const char*, std::optional<double>& value, base::Range) { value = slowdown(random); };
  profiles::Contention::fields(contention, draw);
  model.host_device = random() % 2 == 0;
  model.device_threads = 1 + static_cast<int>(random() % 3);
  model.prepare_threads = 1 + static_cast<int>(random() % 3);
  model.worker_threads = 1 + static_cast<int>(random() % 3);
  model.cores = 1 + static_cast<int>(random() % 12);
  if (!model.host_device) {
    model.costs.device_batch_link_s = model.costs.device_batch_s * 0.7;
  }
  if (model.costs_of && !model.host_device) {
    model.costs_of = [inner = model.costs_of](std::int64_t batch) {
      StageCosts costs = inner(batch);
      costs.device_batch_link_s = costs.device_batch_s * 0.7;
      return costs;
    };
  }
  return model;
}

// Two workers and a team of two threads have a core each: nothing is ever oversubscribed, though preparing
// and training together would be.
TEST(LowerBound, LeavesOutAGainOfOversubscriptionThatNeverHappens) {
  MachineModel model{.cores = 4,
                     .workers = 2,
                     .host_device = true,
                     .device_threads = 2,
                     .prepare_threads = 2,
                     .costs = {.cpu_batch_s = 1, .device_batch_s = 1, .train_s = 2}};
  const double without = lower_bound_s(model, Route::both, 100);
  EXPECT_DOUBLE_EQ(without, 200) << "training keeps the device busy";
  model.contention.crowded_team = model.contention.beside_crowded_team = 0.53;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::both, 100), without);
  // Now one worker shares its core with the team, but the team is still no faster than alone.
  model.cores = 3;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::both, 100), without);
}

// The cores are what is short. Four threads on two cores may take 0.6 of the cores that they would take
// alone, but not less than half: then each runs as if alone.
TEST(LowerBound, BelievesAGainOnTheFairShareOnly) {
  MachineModel model{.cores = 2,
                     .workers = 2,
                     .host_device = true,
                     .device_threads = 2,
                     .prepare_threads = 2,
                     .costs = {.cpu_batch_s = 4, .device_batch_s = 1, .train_s = 2}};
  const double fair = 100 * (4 + 2 * 2) / 2.0;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 100), fair);
  model.contention.crowded_team = model.contention.beside_crowded_team = 0.6;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 100), 0.6 * fair);
  model.contention.crowded_team = model.contention.beside_crowded_team = 0.1;
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 100), 0.5 * fair);
}

// Three workers of two threads each on five cores get 5/6 of what they ask for, not two of them all.
TEST(LowerBound, CoresAreSharedByThreadsNotByWorkers) {
  const MachineModel model{
      .cores = 5, .workers = 3, .worker_threads = 2, .costs = {.cpu_batch_s = 3, .train_s = 0.1}};
  EXPECT_DOUBLE_EQ(lower_bound_s(model, Route::cpu, 100), 100 * 3 * 2 / 5.0);
}

TEST(LowerBound, IsNeverUndercut) {
  const test::RandomSeed seed(314161);
  std::mt19937_64 random(seed);
  Simulator simulator;
  for (int round = 0; round < 200; ++round) {
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 60);
    const double spread = round % 2 == 0 ? 0 : 0.3;
    const MachineModel model = with_everything(random, test::random_model(random, batches, spread));
    for (const plan::Plan& plan : test::random_plans(random, model.workers)) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + plan.name);
      const auto prediction = simulator.run(plan, model, batches, false);
      EXPECT_GT(prediction.lower_bound_s, 0);
      EXPECT_GE(prediction.epoch_s, prediction.lower_bound_s * (1 - 1e-9));
      EXPECT_LE(prediction.device_utilisation, 1 + 1e-9);
      EXPECT_LE(prediction.cpu_utilisation, 1 + 1e-9);
    }
  }
}

}  // namespace
}  // namespace gnomon::sim
