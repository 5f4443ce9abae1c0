#include "profiles/speed_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/fixtures/speeds.h"
#include "tests/random_seed.h"

namespace gnomon::profiles {
namespace {

const std::vector<MeasuredPart> two_parts{
    {3, {{Work::random_lines, 1500, 60}, {Work::inserts, 1e3, 30}, {Work::branches, 1, 10}}},
    {1, {{Work::huge_page_rows, 1200, 5}, {Work::copies, 4e3, 15}}}};

std::optional<SpeedRatio> ratio_of(const std::vector<MeasuredPart>& parts, const MachineSpeeds& from,
                                   const MachineSpeeds& to) {
  return speed_ratio(parts, {from}, {to});
}

TEST(SpeedRatio, OfTheSameMachineIsOneToTheBit) {
  auto speeds = test::uniform_speeds(7, 0.05);
  double rate = 1.0 / 3;
  for (auto& speed : speeds.speeds) {
    speed.per_s = rate *= 1.7;
  }
  const auto ratio = ratio_of(two_parts, speeds, speeds);
  EXPECT_EQ(ratio->factor, 1.0);
  EXPECT_EQ(ratio->interval, 0.0);
}

TEST(SpeedRatio, OfTwiceTheSpeedsIsHalfWhateverTheCounts) {
  const auto from = test::times(test::uniform_speeds(8), Work::inserts, 0.125);
  for (const double factor : {2.0, 0.5, 10.0}) {
    EXPECT_NEAR(ratio_of(two_parts, from, test::times(from, factor))->factor, 1 / factor, 1e-14);
  }
}

// Of the first part's 3 s 60 % are lines: three times as fast they take 3 (0.2 + 0.4) s; the rest stays.
TEST(SpeedRatio, WeighsKindsByWhatTheyTakeOnTheMeasuredMachine) {
  const auto from = test::uniform_speeds(10);
  const auto ratio = ratio_of(two_parts, from, test::times(from, Work::random_lines, 3));
  EXPECT_NEAR(ratio->factor, (3 * 0.6 + 1) / 4, 1e-14);
  EXPECT_EQ(text_of(ratio->by), "inserts, copies, random_lines, branches");
}

TEST(SpeedRatio, FallsAsAnySpeedRises) {
  const auto from = test::uniform_speeds(10);
  for (const auto& [work, name] : base::EnumNames<Work>::values) {
    double before = std::numeric_limits<double>::infinity();
    for (const double factor : {0.1, 0.5, 1.0, 1.5, 30.0}) {
      const double now = ratio_of(two_parts, from, test::times(from, work, factor))->factor;
      EXPECT_LE(now, before) << name;
      before = now;
    }
  }
}

TEST(SpeedRatio, LeavesOutWhatOneMachineDoesNotKnow) {
  const auto from = test::uniform_speeds(10);
  auto to = test::times(from, 2);
  std::erase_if(to.speeds, [](const Speed& speed) { return speed.work == Work::inserts; });
  const auto ratio = ratio_of(two_parts, from, to);
  EXPECT_NEAR(ratio->factor, 0.5, 1e-14);
  EXPECT_EQ(ratio->left_out, std::vector{Work::inserts});
  // Lines are 60 % of the first part: without them nothing can be told.
  std::erase_if(to.speeds, [](const Speed& speed) { return speed.work == Work::random_lines; });
  EXPECT_FALSE(ratio_of(two_parts, from, to).has_value());
  EXPECT_FALSE(ratio_of({{1, {}}}, from, from).has_value());
  EXPECT_FALSE(ratio_of({}, from, from).has_value());
}

// From a core's speeds to a GPU's: rows and launches stand for what the core did, and a GPU has no inserts.
TEST(SpeedRatio, MapsWorkToAGpu) {
  const auto host = test::uniform_speeds(10);
  MachineSpeeds gpu;
  gpu.speeds = {{.work = Work::device_dense_fp32, .size = 64, .per_s = 40},
                {.work = Work::launches, .per_s = 20}};
  const std::vector<MeasuredPart> training{{2, {{Work::dense_fp32, 64, 30}, {Work::operations, 1, 10}}}};
  const auto ratio = speed_ratio(training, {host}, {gpu, true});
  constexpr double calls_per_launch = 4;
  EXPECT_NEAR(ratio->factor, (30.0 / 40 + 10.0 / calls_per_launch / 20) / (30.0 / 10 + 10.0 / 10), 1e-14);
}

/// The speeds with independent normal errors of the logarithm, whose 95 % half widths are the intervals.
MachineSpeeds perturbed(MachineSpeeds speeds, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  for (auto& speed : speeds.speeds) {
    speed.per_s *= std::exp(speed.interval / 1.96 * normal(random));
    speed.interval += 1e-9;  // another measurement
  }
  return speeds;
}

// The interval is linearised; with errors of a few per cent, simulated errors of the speeds have the same
// deviation. 20,000 draws know it to 1 % (two standard errors). The rest is what counts leave out, and
// visits.
TEST(SpeedRatio, IntervalIsThatOfSimulatedErrorsAndOfWhatCountsLeaveOut) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  auto from = test::uniform_speeds(10, 0.03);
  auto to = test::times(test::times(from, Work::random_lines, 2.5), Work::copies, 0.6);
  for (auto& speed : to.speeds) {
    speed.interval = 0.05;
  }
  const auto told = ratio_of(two_parts, from, to);
  double squares = 0;
  constexpr int draws = 20000;
  for (int i = 0; i < draws; ++i) {
    squares += std::pow(
        std::log(ratio_of(two_parts, perturbed(from, random), perturbed(to, random))->factor / told->factor),
        2);
  }
  double spread = 0;  // of 16 speeds: two of lines and two of copies are other than the rest
  for (const auto& [speeds, factor] : {std::pair(2, 1 / 2.5), std::pair(2, 1 / 0.6), std::pair(12, 1.0)}) {
    spread += speeds * std::pow(std::log(factor / told->factor), 2) / 16;
  }
  const double simulated =
      std::sqrt(std::pow(1.96, 2) * squares / draws +
                std::pow(model_half_width, 2) *
                    (std::pow(unexplained_share, 2) * spread + std::pow(visit_deviation, 2)));
  EXPECT_NEAR(told->interval / simulated, 1, 0.01);
}

TEST(SpeedRatio, IntervalIsWiderWhereKindsDiffer) {
  const auto exact = test::uniform_speeds(10);
  const double least = model_half_width * visit_deviation;
  EXPECT_NEAR(ratio_of(two_parts, exact, test::times(exact, 2))->interval, least, 1e-12);
  EXPECT_GT(ratio_of(two_parts, exact, test::times(exact, Work::copies, 2))->interval, least + 0.01);
  EXPECT_GT(ratio_of(two_parts, exact, test::times(exact, Work::sparse, 2))->interval, least + 0.01)
      << "also those that are not counted";
  const auto measured = test::uniform_speeds(10, 0.01);
  EXPECT_GT(ratio_of(two_parts, measured, test::times(measured, 2))->interval, least);
}

TEST(SpeedupOf, IsAPowerOfThreads) {
  auto speeds = test::uniform_speeds(10);
  const std::vector<Amount> work{{Work::copies, 1e3, 6}, {Work::operations, 1, 2}};
  EXPECT_FALSE(speedup_of(work, speeds, 2).has_value());
  speeds.speeds.push_back({.work = Work::copies, .threads = 4, .size = 1e3, .per_s = 30});
  EXPECT_NEAR(*speedup_of(work, speeds, 4), 8.0 / (2 + 2), 1e-12) << "operations are called by one thread";
  EXPECT_NEAR(*speedup_of(work, speeds, 2), std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(*speedup_of(work, speeds, 1), 1, 1e-12);
  speeds.speeds.push_back({.work = Work::inserts, .threads = 4, .size = 1e3, .per_s = 0.1});
  const std::vector<Amount> inserts{{Work::inserts, 1e3, 7}};
  EXPECT_NEAR(*speedup_of(inserts, speeds, 4), 0.5, 1e-12) << "such a probe tells of barriers";
}

/// `speeds` and those of four threads, each kind `speedup` times as fast as one.
MachineSpeeds with_four_threads(MachineSpeeds speeds, double speedup) {
  const auto alone = speeds.speeds;
  for (auto speed : alone) {
    speed.threads = 4;
    speed.per_s *= speedup;
    speeds.speeds.push_back(speed);
  }
  return speeds;
}

// All kinds speed up by 3 there and by 2 here: the ratio is 1.5, and no kind differs from it, so that only
// what changes between visits remains.
TEST(SpeedupRatio, HasTheIntervalOfVisitsWhereAllKindsAgree) {
  const auto from = with_four_threads(test::uniform_speeds(10), 2);
  const auto to = with_four_threads(test::uniform_speeds(5), 3);
  const auto ratio = speedup_ratio(two_parts[0].work, &from, to, 4);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->factor, 1.5, 1e-12);
  EXPECT_NEAR(ratio->interval, model_half_width * visit_deviation, 1e-12);
  EXPECT_NEAR(speedup_ratio(two_parts[0].work, nullptr, to, 4)->factor, 3, 1e-12);
  EXPECT_EQ(speedup_ratio(two_parts[0].work, &from, to, 1)->interval, 0);
  EXPECT_FALSE(speedup_ratio(two_parts[0].work, &from, test::uniform_speeds(5), 4));
}

TEST(SpeedupRatio, IsLessCertainWhereKindsDiffer) {
  const auto from = with_four_threads(test::uniform_speeds(10), 2);
  auto to = with_four_threads(test::uniform_speeds(10), 2);
  for (auto& speed : to.speeds) {
    speed.per_s *= speed.threads == 4 && speed.work == Work::inserts ? 0.5 : 1;
  }
  const auto ratio = speedup_ratio(two_parts[0].work, &from, to, 4);
  EXPECT_LT(ratio->factor, 1);
  EXPECT_GT(ratio->interval, model_half_width * visit_deviation);
}

}  // namespace
}  // namespace gnomon::profiles
