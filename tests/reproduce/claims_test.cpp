#include "reproduce/figures/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "reproduce/figures/derived_chart.h"
#include "reproduce/figures/figure_document.h"
#include "reproduce/figures/printed_numbers.h"

namespace gnomon::reproduce {
namespace {

using ::testing::HasSubstr;

/// Two lines that cross at x = 3: a falls from 8 to 2 over 1 … 4, b is 4.
std::vector<Chart> crossing_lines() {
  Chart chart;
  chart.title = "lines";
  chart.series = {{"a", false, {{1, 8}, {2, 6}, {4, 2}}}, {"b", false, {{1, 4}, {2, 4}, {4, 4}}}};
  return {chart};
}

ClaimSource claim_of(Quantity quantity, SideSource of, std::optional<SideSource> over = std::nullopt) {
  ClaimSource claim;
  claim.quantity = quantity;
  claim.of = std::move(of);
  claim.over = std::move(over);
  claim.above = 0;
  return claim;
}

SideSource whole(const std::string& series) { return {series, std::nullopt, "", std::nullopt, false}; }
SideSource at(const std::string& series, double x) { return {series, x, "", std::nullopt, false}; }
SideSource least(const std::string& series) { return {series, std::nullopt, "", Pick::min, false}; }

TEST(Claims, AreComputedFromTheLines) {
  const auto charts = crossing_lines();
  const auto value = [&](const ClaimSource& claim) { return decide(claim, charts).value.value(); };
  EXPECT_EQ(value(claim_of(Quantity::crossing, whole("a"), whole("b"))), 3);
  EXPECT_EQ(value(claim_of(Quantity::least_at, whole("a"))), 4);
  EXPECT_EQ(value(claim_of(Quantity::ratio, at("a", 2), at("b", 4))), 1.5);
  EXPECT_EQ(value(claim_of(Quantity::ratio, least("a"), at("b", 1))), 0.5);
  // 2, 1.5 and 0.5 at the three points.
  auto ratio = claim_of(Quantity::ratio, whole("a"), whole("b"));
  EXPECT_NEAR(value(ratio), 4.0 / 3, 1e-12);
  ratio.pick = Pick::max;
  EXPECT_EQ(value(ratio), 2);
  // 4, 2 and -2.
  auto difference = claim_of(Quantity::difference, whole("a"), whole("b"));
  EXPECT_NEAR(value(difference), 4.0 / 3, 1e-12);
  difference.pick = Pick::min;
  EXPECT_EQ(value(difference), -2);
  // a leads b by the inverse.
  auto lead = claim_of(Quantity::ratio, whole("a"));
  lead.of->lead = true;
  lead.pick = Pick::min;
  EXPECT_EQ(value(lead), 0.5);
}

// Twice as much where 2.5 times is printed: the direction holds, and the size is a fifth off.
TEST(Claims, DirectionAndSizeAreJudgedApart) {
  const auto charts = crossing_lines();
  auto source = claim_of(Quantity::ratio, at("a", 1), at("b", 1));
  source.above = 1;
  source.printed = 2.49;
  auto claim = decide(source, charts);
  EXPECT_EQ(claim.direction, true);
  EXPECT_EQ(claim.size, true);
  EXPECT_NEAR(claim.error.value(), 2 / 2.49 - 1, 1e-12);
  EXPECT_EQ(claim.holds(), true);
  source.printed = 2.51;
  claim = decide(source, charts);
  EXPECT_EQ(claim.direction, true);
  EXPECT_EQ(claim.size, false);
  EXPECT_EQ(claim.holds(), false);
  source.printed = 2;
  source.below = 1.9;
  claim = decide(source, charts);
  EXPECT_EQ(claim.direction, false);
  EXPECT_EQ(claim.size, true);
  EXPECT_EQ(claim.holds(), false);
  // Without a printed number there is no size, and without a side no direction.
  source.printed.reset();
  EXPECT_FALSE(decide(source, charts).size.has_value());
  source = claim_of(Quantity::ratio, at("a", 1), at("b", 1));
  source.above.reset();
  source.printed = 2;
  EXPECT_FALSE(decide(source, charts).direction.has_value());
  EXPECT_EQ(decide(source, charts).size, true);
}

TEST(Claims, RangesCountFromTheirNearerEndAndLimitsHaveNoSize) {
  const auto charts = crossing_lines();
  auto source = claim_of(Quantity::ratio, at("a", 1), at("b", 1));  // 2
  source.printed = 1.5;
  source.printed_to = 2.5;
  EXPECT_EQ(decide(source, charts).error, 0);
  source.printed_to = 1.6;
  EXPECT_NEAR(decide(source, charts).error.value(), 0.25, 1e-12);
  EXPECT_EQ(decide(source, charts).size, false);
  source.printed = 4;
  source.printed_to = 5;
  EXPECT_NEAR(decide(source, charts).error.value(), -0.5, 1e-12);
  source.printed_to.reset();
  source.limit = true;
  EXPECT_NEAR(decide(source, charts).error.value(), -0.5, 1e-12);
  EXPECT_FALSE(decide(source, charts).size.has_value());
}

TEST(Claims, WithoutAPointAreNotDecided) {
  const auto charts = crossing_lines();
  // A line never is below itself.
  const auto never = decide(claim_of(Quantity::crossing, whole("a"), whole("a")), charts);
  EXPECT_EQ(never.direction, false);
  EXPECT_FALSE(never.value.has_value());
  // A point that is not there is no answer.
  EXPECT_FALSE(decide(claim_of(Quantity::ratio, at("a", 7)), charts).holds().has_value());
  auto lacking = charts;
  lacking.front().missing = {"b: too dear"};
  EXPECT_THAT(decide(claim_of(Quantity::ratio, at("a", 7)), lacking).why_not, HasSubstr("b: too dear"));
  EXPECT_THROW(decide(claim_of(Quantity::ratio, whole("c")), charts), base::InputError);
}

PanelSource derived_from(Derived derived, const std::string& base = "") {
  PanelSource panel;
  panel.from = "lines";
  panel.derived = derived;
  panel.base = base;
  return panel;
}

std::vector<double> ys_of(const Chart& chart, const std::string& series) {
  std::vector<double> ys;
  for (const auto& point : chart.find(series)->points) {
    ys.push_back(point.y);
  }
  return ys;
}

TEST(DerivedCharts, CompareSeriesOfAnotherPanel) {
  auto charts = crossing_lines();  // a: 8, 6, 2; b: 4, 4, 4
  charts.front().series.push_back({"a", true, {{1, 100}}});
  charts.front().missing = {"c: too dear"};
  using ::testing::DoubleNear;
  using ::testing::ElementsAre;
  const auto speed_up = derived_chart(derived_from(Derived::speed_up), charts);
  EXPECT_THAT(ys_of(speed_up, "a"), ElementsAre(1, DoubleNear(8.0 / 6, 1e-12), 4));
  EXPECT_THAT(ys_of(speed_up, "b"), ElementsAre(1, 1, 1));
  EXPECT_THAT(speed_up.missing, ElementsAre("c: too dear"));
  const auto lost = derived_chart(derived_from(Derived::lost, "a"), charts);
  EXPECT_EQ(lost.series.size(), 1U);
  EXPECT_THAT(ys_of(lost, "b"), ElementsAre(4, 2, -2));
  const auto ratios = derived_chart(derived_from(Derived::mean_ratio, "b"), charts);
  EXPECT_THAT(ratios.categories, ElementsAre("a"));
  EXPECT_THAT(ys_of(ratios, "times b"), ElementsAre(DoubleNear((2 + 1.5 + 0.5) / 3, 1e-12)));
  EXPECT_THROW(derived_chart(derived_from(Derived::lost, "c"), charts), base::InputError);
  EXPECT_THROW(derived_chart(derived_from(Derived::lost, "a"), {}), base::InputError);
}

TEST(PrintedNumbers, AreMarkedWhereTheyAreAndAcrossTheChart) {
  auto chart = crossing_lines().front();
  PanelSource panel;
  panel.printed = {{"a", 2, "", 5, "w"}, {"limit", std::nullopt, "", 3, "w"}, {"a", 4, "", 4, "w", true}};
  add_printed(chart, panel, false);
  std::vector<double> errors;
  add_errors(chart, errors);
  EXPECT_THAT(errors, ::testing::ElementsAre(::testing::DoubleNear(0.2, 1e-12)));  // 6 beside 5; no level
  ASSERT_EQ(chart.series.size(), 4U);
  EXPECT_TRUE(chart.series[2].printed);
  EXPECT_TRUE(chart.series[3].level);
  EXPECT_EQ(chart.series[3].points.front().x, 1);
  EXPECT_EQ(chart.series[3].points.back().x, 4);
  add_printed(chart, panel, true);
  EXPECT_EQ(chart.series[2].points.size(), 2U);
  panel.printed = {{"a", std::nullopt, "nowhere", 1, "w"}};
  EXPECT_THROW(add_printed(chart, panel, false), base::InputError);
}

}  // namespace
}  // namespace gnomon::reproduce
