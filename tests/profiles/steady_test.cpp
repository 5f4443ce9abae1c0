#include "profiles/measure/steady.h"

#include <gtest/gtest.h>

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// Twelve trainings of 2 s from 10 s on, each beside a preparation of its first second.
std::vector<StageSpan> epoch() {
  std::vector<StageSpan> spans;
  for (int i = 0; i < 12; ++i) {
    const double begin_s = 10 + 2 * i;
    spans.push_back({Stage::device_batch, i, 0, begin_s, begin_s + 1});
    spans.push_back({Stage::train, i, 0, begin_s, begin_s + 2});
  }
  return spans;
}

TEST(SteadyPart, IsTheMiddleThird) {
  const auto spans = epoch();
  const auto steady = steady_part(spans);
  ASSERT_EQ(steady.size(), 8U);
  EXPECT_EQ(steady.front().begin_s, 18);
  EXPECT_EQ(steady.back().begin_s, 24);
  EXPECT_TRUE(steady_part(std::span(spans).first(4)).empty()) << "two trainings";
}

TEST(MeanRatio, OfTheStagesTimes) {
  const auto spans = epoch();
  EXPECT_DOUBLE_EQ(mean_ratio(spans, Stage::train, 1.6).value(), 1.25);
  EXPECT_EQ(mean_ratio(spans, Stage::transfer, 1.6), std::nullopt);
  EXPECT_EQ(mean_ratio(spans, Stage::train, 0), std::nullopt) << "not measured alone";
}

TEST(SlowdownBeside, CountsTheOverlap) {
  // Of 2 s, one overlaps; alone 1.5 s: half a second of work took a whole one.
  EXPECT_DOUBLE_EQ(slowdown_beside(epoch(), Stage::train, 1.5, Stage::device_batch).value(), 2);
  EXPECT_EQ(slowdown_beside(epoch(), Stage::train, 1.5, Stage::transfer), std::nullopt);
}

}  // namespace
}  // namespace gnomon::profiles
