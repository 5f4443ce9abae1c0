#include "profiles/measure/slowdown.h"

#include <gtest/gtest.h>

#include <vector>

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

StageSpan span(double begin_s, double end_s) { return {Stage::train, 0, 0, begin_s, end_s}; }

TEST(Slowdown, IsUnknownWithoutObservationsOrOverlap) {
  Slowdown slowdown;
  EXPECT_EQ(slowdown.value(), std::nullopt);
  slowdown.add(1, span(0, 1), std::vector{span(2, 3)});
  EXPECT_EQ(slowdown.value(), std::nullopt);
}

TEST(Slowdown, FullOverlap) {
  Slowdown slowdown;
  slowdown.add(2, span(1, 4), std::vector{span(0, 5)});
  EXPECT_DOUBLE_EQ(slowdown.value().value(), 1.5);
}

TEST(Slowdown, OnlyTheOverlappedPartCounts) {
  // 4 s of work at a slowdown of 1.5 while the neighbours run, from 1 to 2.5 and from 3 to 4.5: 3 s
  // overlapped do 2 s of work, 2 s beside them do the other 2.
  Slowdown slowdown;
  slowdown.add(4, span(0, 5), std::vector{span(1, 2.5), span(3, 4.5)});
  EXPECT_DOUBLE_EQ(slowdown.value().value(), 1.5);
}

TEST(Slowdown, WeighsObservationsByTheirOverlap) {
  Slowdown slowdown;
  slowdown.add(1, span(0, 1.2), std::vector{span(-1, 9)});
  slowdown.add(3, span(0, 3.6), std::vector{span(-1, 9)});
  slowdown.add(5, span(0, 5), std::vector{span(6, 9)});
  EXPECT_DOUBLE_EQ(slowdown.value().value(), 1.2);
}

TEST(Slowdown, NoiseNeverMakesANeighbourAHelp) {
  Slowdown faster;
  faster.add(1, span(0, 0.9), std::vector{span(0, 1)});
  EXPECT_EQ(faster.value(), 1);
  Slowdown senseless;  // the part beside the overlap already took longer than the whole does alone
  senseless.add(1, span(0, 2), std::vector{span(0, 0.5)});
  EXPECT_EQ(senseless.value(), std::nullopt);
  Slowdown hardly_any_work;
  hardly_any_work.add(1, span(0, 1.4), std::vector{span(0, 0.401)});
  EXPECT_EQ(hardly_any_work.value(), 10);
}

}  // namespace
}  // namespace gnomon::profiles
