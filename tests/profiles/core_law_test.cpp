#include "profiles/core_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/fixtures/speeds.h"
#include "tests/random_seed.h"

namespace gnomon::profiles {
namespace {

const std::vector<Amount> compute{{Work::dense_fp32, 1e3, 10}};
const std::vector<Amount> memory{{Work::copies, 1e9, 10}};
const std::vector<Amount> serial{{Work::operations, 1, 10}};

/// Speeds of one thread, and of two with these gains of compute-bound and memory-bound work.
MachineSpeeds speeds_of_two(double by_compute, double by_memory) {
  auto speeds = test::uniform_speeds(10);
  const auto one = speeds.speeds;
  for (Speed speed : one) {
    if (speed.work != Work::operations) {
      speed.threads = 2;
      speed.per_s *= is_compute_bound({speed.work, 1e9, 1}) ? by_compute : by_memory;
      speeds.speeds.push_back(speed);
    }
  }
  return speeds;
}

ScalingPoint last_of(const std::vector<Amount>& work, const CoreFacts& facts, int threads,
                     std::vector<ScalingPoint> points) {
  return continued(std::move(points), work, facts, threads, Together::team).back();
}

TEST(CoreLaw, ComputeBoundWorkScalesWithTheCoresAndTheirMeasuredGain) {
  for (const double gain : {1.3, 2.0}) {  // two hardware threads of one core; two cores
    const auto speeds = speeds_of_two(gain, 1.5);
    const auto point = last_of(compute, {.speeds = &speeds, .measured = 2}, 32, {{1, 1}, {2, gain}});
    EXPECT_EQ(point.threads, 32);
    EXPECT_NEAR(point.value, 16 * gain, 1e-9);
  }
}

// Saturation σ by the measured gain 4/3: 2 / (1 + σ) = 4/3, so that the bandwidth that stays is twice that of
// one thread.
TEST(CoreLaw, MemoryBoundWorkLiesBetweenABandwidthThatStaysAndOneThatGrows) {
  const double gain = 4.0 / 3;
  const auto speeds = speeds_of_two(2, gain);
  const CoreFacts facts{.speeds = &speeds, .measured = 2};
  const auto range = speedup_range(memory, facts, 32);
  EXPECT_NEAR(range.low, 32 / (1 + 0.5 * 31), 1e-9);
  EXPECT_NEAR(range.high, 16 * gain, 1e-9);
  const auto point = last_of(memory, facts, 32, {{1, 1}, {2, gain}});
  EXPECT_NEAR(point.value, std::sqrt(range.low * range.high), 1e-9);
  EXPECT_LE(point.value / (1 + *point.interval), range.low);
  EXPECT_GE(point.value * (1 + *point.interval), range.high);
}

// Saturation 1/3 by the measured gain 1.5; its limit rises with the bandwidth, up to what each thread had.
TEST(CoreLaw, MemoryBoundWorkFollowsAKnownBandwidth) {
  const auto speeds = speeds_of_two(2, 1.5);
  for (const auto& [growth, gain] :
       {std::pair(4.0, 32 / (1 + 31 / 12.0)), std::pair(100.0, 24.0), std::pair(0.5, 32 / (1 + 31 / 3.0))}) {
    const auto range =
        speedup_range(memory, {.speeds = &speeds, .measured = 2, .bandwidth_growth = growth}, 32);
    EXPECT_NEAR(range.low, gain, 1e-9);
    EXPECT_NEAR(range.high, gain, 1e-9);
  }
}

TEST(CoreLaw, SerialWorkDoesNotScale) {
  const auto speeds = speeds_of_two(2, 2);
  EXPECT_NEAR(last_of(serial, {.speeds = &speeds, .measured = 2}, 32, {{1, 1}, {2, 1}}).value, 1, 1e-9);
  EXPECT_NEAR(last_of(serial, {}, 32, {}).value, 1, 1e-9);
}

// A third of the time of one thread each, of which only the first two scale: x2 and x4/3 on two threads.
TEST(CoreLaw, KindsAddTheirTimes) {
  const auto speeds = speeds_of_two(2, 4.0 / 3);
  std::vector<Amount> all = compute;
  all.insert(all.end(), {memory.front(), serial.front()});
  const CoreFacts facts{.speeds = &speeds, .measured = 2};
  EXPECT_NEAR(speedup_range(all, facts, 2).high, 3 / (1 / 2.0 + 3 / 4.0 + 1), 1e-9);
  EXPECT_NEAR(speedup_range(all, facts, 8).low, 3 / (1 / 8.0 + (1 + 0.5 * 7) / 8 + 1), 1e-9);
  EXPECT_NEAR(speedup_range(all, facts, 8).high, 3 / (1 / 8.0 + 3 / 16.0 + 1), 1e-9);
}

// Of a speed-up that falls short of what counts allow, either the rest of the machine scales it, or it has a
// serial share by Amdahl's law.
TEST(CoreLaw, IsCalibratedByTheStagesOwnSpeedup) {
  const auto speeds = speeds_of_two(2, 2);
  const double serial_share = 1 / 1.6 * 2 - 1;  // 1 / 1.6 = f + (1 - f) / 2
  const auto point = last_of(compute, {.speeds = &speeds, .measured = 2}, 32, {{1, 1}, {2, 1.6}});
  const double low = 1 / (serial_share + (1 - serial_share) / 32);
  const double high = 1.6 * 16;
  EXPECT_NEAR(point.value, std::sqrt(low * high), 1e-9);
  EXPECT_LE(point.value / (1 + *point.interval), low);
  EXPECT_GE(point.value * (1 + *point.interval), high);
}

// Nothing unmeasured is certain, or as fast as one thread.
TEST(CoreLaw, WithoutMeasurementsIsABeliefByTheCounts) {
  double before = 1;
  double before_interval = 0;
  for (const int threads : {2, 8, 32}) {
    const auto point = last_of(compute, {}, threads, {});
    EXPECT_GT(point.value, before);
    EXPECT_GT(*point.interval, before_interval);
    EXPECT_GE(point.value, last_of(memory, {}, threads, {}).value);
    EXPECT_GT(last_of(memory, {}, threads, {}).value, 1);
    before = point.value;
    before_interval = *point.interval;
  }
}

// Without speeds the stage's own saturation goes on, which is at least the assumed one.
TEST(CoreLaw, FollowsTheStagesSaturationOnAMachineWithoutSpeeds) {
  for (const auto& [measured, serial_share] : {std::pair(1.6, 0.25), std::pair(2.0, 0.1)}) {
    const auto point = last_of(compute, {.measured = 2}, 32, {{1, 1}, {2, measured}});
    const auto amdahl = [&, f = serial_share](double t) { return 1 / (f + (1 - f) / t); };
    EXPECT_NEAR(point.value, std::sqrt(measured * amdahl(32) / amdahl(2) * measured * 16), 1e-9);
  }
}

TEST(CoreLaw, ATimeOnAllCoresIsNoSpeedup) {
  const auto points = continued({{8, 1}}, compute, {.measured = 8}, 32, Together::team);
  EXPECT_GT(points.back().value, 2);
  EXPECT_LT(points.back().value, 4);
  const auto workers = continued({{8, 1}}, memory, {.measured = 8}, 32, Together::workers);
  EXPECT_EQ(workers.back().value, 1);
  EXPECT_GT(*workers.back().interval, 0.5);
}

TEST(CoreLaw, WorkersDivideTheirSpeedups) {
  const auto speeds = speeds_of_two(1.5, 1.5);
  const auto points =
      continued({{1, 1}, {2, 0.75}}, compute, {.speeds = &speeds, .measured = 2}, 16, Together::workers);
  EXPECT_NEAR(points.back().value, 0.75, 1e-9) << "as many share each core as were measured";
}

TEST(CoreLaw, KeepsMeasuredPointsAndGoesOnFromThem) {
  const std::vector<ScalingPoint> measured{{1, 1}, {2, 1.4}};
  const auto points = continued(measured, compute, {.measured = 2}, 64, Together::team);
  ASSERT_GT(points.size(), 2U);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_EQ(points[i].threads, measured[i].threads);
    EXPECT_EQ(points[i].value, measured[i].value);
    EXPECT_FALSE(points[i].interval.has_value());
  }
  EXPECT_EQ(points.back().threads, 64);
  EXPECT_EQ(continued(measured, compute, {.measured = 2}, 2, Together::team).size(), 2U);
}

// Whatever was measured: no more threads are slower, none faster than so many, and the interval grows.
TEST(CoreLaw, RisesWithThreads) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 300; ++round) {
    const auto speeds = speeds_of_two(0.5 + 1.6 * uniform(random), 0.5 + 1.6 * uniform(random));
    std::vector<Amount> work;
    for (const auto& kind : {compute, memory, serial}) {
      if (random() % 3 > 0) {
        work.push_back({kind.front().work, kind.front().size, 20 * uniform(random)});
      }
    }
    CoreFacts facts{.speeds = random() % 2 == 0 ? &speeds : nullptr, .measured = 2};
    facts.physical = static_cast<int>(random() % 3);
    if (random() % 4 == 0) {
      facts.bandwidth_growth = 20 * uniform(random);
    }
    std::vector<ScalingPoint> measured{{1, 1}};
    if (random() % 2 == 0) {
      measured.push_back({2, 0.5 + 2 * uniform(random)});
    }
    const auto together = random() % 2 == 0 ? Together::team : Together::workers;
    const auto from = measured.size();
    const auto points = continued(measured, work, facts, 128, together);
    for (std::size_t i = from; i < points.size(); ++i) {
      const auto speedup = [&](const ScalingPoint& point) {
        return together == Together::workers ? point.value * point.threads : point.value;
      };
      EXPECT_GE(speedup(points[i]), speedup(points[i - 1]) * (1 - 1e-12)) << points[i].threads;
      EXPECT_LE(speedup(points[i]) / speedup(points[i - 1]),
                1.0 * points[i].threads / points[i - 1].threads * (1 + 1e-12));
      EXPECT_GT(*points[i].interval, points[i - 1].interval.value_or(0));
    }
  }
}

TEST(CoreLaw, TellsThreadsThatShareACore) {
  const auto shared = speeds_of_two(1.3, 1.9);
  const auto own = speeds_of_two(1.9, 1.3);
  Cpu cpu;
  cpu.cores = 2;
  EXPECT_TRUE(shares_cores(cpu, &shared));
  EXPECT_FALSE(shares_cores(cpu, &own));
  EXPECT_FALSE(shares_cores(cpu, nullptr));
  cpu.physical_cores = 1;
  EXPECT_TRUE(shares_cores(cpu, nullptr));
}

}  // namespace
}  // namespace gnomon::profiles
