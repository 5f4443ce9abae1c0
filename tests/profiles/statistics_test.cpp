#include "profiles/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "base/student_t.h"
#include "tests/random_seed.h"

namespace gnomon::profiles {
namespace {

TEST(Stopwatch, RunsForwardsAndAgreesWithSleep) {
  const Stopwatch watch;
  double last = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double now = watch.seconds();
    ASSERT_GE(now, last);
    last = now;
  }
  const double before = watch.seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(watch.seconds() - before, 0.020);  // a sleep may be longer, never shorter
}

TEST(Series, AgreesWithTwoPassFormulas) {
  const test::RandomSeed seed(20240607);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> draw(0, 1);
  Series series;
  std::vector<double> all;
  for (int i = 0; i < 1237; ++i) {
    all.push_back(1e6 + draw(random));
    series.add(all.back());
  }
  double mean = 0;
  for (const double x : all) {
    mean += x / static_cast<double>(all.size());
  }
  double squares = 0;
  for (const double x : all) {
    squares += (x - mean) * (x - mean);
  }
  EXPECT_NEAR(series.mean(), mean, 1e-9 * mean);
  EXPECT_NEAR(series.deviation(), std::sqrt(squares / 1236), 1e-6);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(series.percentile(0), all.front());
  EXPECT_EQ(series.percentile(1), all.back());
  EXPECT_EQ(series.percentile(0.5), all[618]);
}

TEST(Series, SmallCasesByHand) {
  Series series;
  EXPECT_TRUE(std::isinf(series.interval()));
  series.add(1);
  EXPECT_TRUE(std::isinf(series.interval()));
  series.add(3);
  EXPECT_DOUBLE_EQ(series.mean(), 2);
  EXPECT_DOUBLE_EQ(series.deviation(), std::sqrt(2));
  EXPECT_NEAR(series.interval(), 12.7062047364, 1e-9);  // t(1) * sqrt(2) / sqrt(2)
  EXPECT_DOUBLE_EQ(series.percentile(0.25), 1.5);
}

TEST(Series, BurstsLeaveTheMedianOfMeansAlone) {
  Series series;
  for (int epoch = 0; epoch < 30; ++epoch) {
    const bool is_burst = epoch % 10 < 2;
    for (const double sample : {1.0, 1.0, 1.0, 5.0}) {
      series.add(is_burst ? 9 * sample : sample);
    }
  }
  EXPECT_DOUBLE_EQ(series.median_of_means(4), 2);  // neither the bursts nor the median sample
  EXPECT_DOUBLE_EQ(series.median_of_means(1), 1);
  EXPECT_GT(series.mean(), 5);
}

TEST(Series, FewSamplesHaveShorterRuns) {
  Series series;
  for (int i = 1; i <= 9; ++i) {
    series.add(i * i);
  }
  EXPECT_DOUBLE_EQ(series.median_of_means(3), 25);  // fewer than ten: the median
  series.add(1000);
  EXPECT_DOUBLE_EQ(series.median_of_means(1000), (25.0 + 36.0) / 2);
}

TEST(Series, BlocksOfEqualSamplesCountAsOneObservation) {
  // Forty blocks of 32 equal samples: 1280 = 10 batches of 128 that hold four blocks each. Batch means know
  // it; the textbook formula believes in 1280 independent samples.
  const test::RandomSeed seed(20240607);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draw(10, 1);
  Series series;
  double squares = 0;
  std::vector<double> means;
  for (int batch = 0; batch < 10; ++batch) {
    double mean = 0;
    for (int block = 0; block < 4; ++block) {
      const double value = draw(random);
      mean += value / 4;
      for (int i = 0; i < 32; ++i) {
        series.add(value);
      }
    }
    means.push_back(mean);
  }
  for (const double mean : means) {
    squares += std::pow(mean - series.mean(), 2);
  }
  EXPECT_NEAR(series.interval(), base::student_t_975(9) * std::sqrt(squares / 9 / 10), 1e-9);
}

/// How often the interval covers the true mean, over `runs` series x' = mean + phi (x - mean) + noise, each
/// measured until the rule is content (by samples only, no clock).
double coverage(std::uint64_t seed, double phi, double deviation, const StopRule& rule, int runs) {
  std::mt19937_64 random(seed);
  const double mean = 1;
  std::normal_distribution<double> draw(0, deviation * std::sqrt(1 - phi * phi));
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    Series series;
    double x = std::normal_distribution<double>(0, deviation)(random);
    while (!rule.finished(series, 0)) {
      x = phi * x + draw(random);
      series.add(mean + x);
    }
    covered += std::abs(series.mean() - mean) <= series.interval() ? 1 : 0;
  }
  return static_cast<double>(covered) / runs;
}

TEST(Coverage, FixedSampleSizeIndependent) {
  const test::RandomSeed seed(20240607);
  // 2000 runs: three standard errors of 0.95 are 0.015. The wider of two intervals covers more, never less.
  const StopRule rule{.asked_interval = 0, .min_samples = 0, .max_samples = 300};
  EXPECT_GE(coverage(seed, 0, 0.2, rule, 2000), 0.935);
  EXPECT_LE(coverage(seed, 0, 0.2, rule, 2000), 0.99);
}

TEST(Coverage, FixedSampleSizeCorrelated) {
  const test::RandomSeed seed(20240607);
  // phi = 0.8 triples the true deviation of the mean; the textbook interval would cover about half.
  const StopRule rule{.asked_interval = 0, .min_samples = 0, .max_samples = 1000};
  EXPECT_GE(coverage(seed, 0.8, 0.2, rule, 2000), 0.92);
}

TEST(Coverage, StoppedByItsOwnInterval) {
  const test::RandomSeed seed(20240607);
  // Stopping as soon as the interval happens to be narrow costs some coverage (Chow and Robbins, 1965: it is
  // right only in the limit of narrow intervals).
  const StopRule rule{.asked_interval = 0.02};
  EXPECT_GE(coverage(seed, 0, 0.1, rule, 2000), 0.92);
  EXPECT_GE(coverage(seed, 0.5, 0.1, rule, 2000), 0.85);
}

TEST(StopRule, StopsAtTheIntervalOrTheLimitWhicheverIsFirst) {
  const test::RandomSeed seed(20240607);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draw(1, 0.1);
  const auto sample = [&] { return draw(random); };
  const StageTime sure = measure_until({.asked_interval = 0.02, .time_limit_s = 1e9}, sample);
  EXPECT_TRUE(sure.converged);
  EXPECT_GE(sure.samples, 20);
  EXPECT_LE(sure.interval_s, 0.02 * sure.mean_s);

  const StageTime hurried = measure_until({.asked_interval = 1e-9, .time_limit_s = 0}, sample);
  EXPECT_FALSE(hurried.converged);
  EXPECT_EQ(hurried.samples, 1);
  EXPECT_TRUE(std::isfinite(hurried.interval_s));

  const StageTime bounded =
      measure_until({.asked_interval = 1e-9, .time_limit_s = 1e9, .max_samples = 50}, sample);
  EXPECT_FALSE(bounded.converged);
  EXPECT_EQ(bounded.samples, 50);
}

TEST(StopRule, ConstantTimesAreSureAtOnce) {
  const StageTime time = measure_until({.asked_interval = 0.01, .time_limit_s = 1e9}, [] { return 0.25; });
  EXPECT_TRUE(time.converged);
  EXPECT_EQ(time.samples, 20);
  EXPECT_DOUBLE_EQ(time.mean_s, 0.25);
  EXPECT_DOUBLE_EQ(time.p95_s, 0.25);
}

}  // namespace
}  // namespace gnomon::profiles
