#include "tuner/explore/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

using ::testing::ElementsAre;

TEST(Sweep, ListsRangesAndFactors) {
  EXPECT_THAT(parse_sweep("a.b=1,2.5,x").values, ElementsAre("1", "2.5", "x"));
  EXPECT_EQ(parse_sweep("a.b=1").path, "a.b");
  EXPECT_THAT(parse_sweep("a=1:7:3").values, ElementsAre("1", "4", "7"));
  EXPECT_THAT(parse_sweep("a=1:8:3").values, ElementsAre("1", "4", "7"));
  EXPECT_THAT(parse_sweep("a=0.1:0.3:0.1").values, ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(parse_sweep("a=1:1000:*10").values, ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(parse_sweep("fanouts=[15,10],[5,5]").values, ElementsAre("[15,10]", "[5,5]"));
  for (const char* bad :
       {"a", "=1", "a=", "a=2:1:1", "a=1:2:0", "a=0:2:*2", "a=1:2:*1", "a=1:x:1", "a=0:1:1e-9"}) {
    EXPECT_THROW(parse_sweep(bad), base::InputError) << bad;
  }
}

TEST(Sweep, AllCombinationsLastFastest) {
  const auto all = combinations({{"a", {"1", "2"}}, {"b", {"x", "y"}}});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1][0].value + all[1][1].value, "1y");
  EXPECT_EQ(all[2][0].value + all[2][1].value, "2x");
  EXPECT_EQ(combinations({}).size(), 1U);
  const std::vector<std::string> many(400, "1");
  EXPECT_THROW(combinations({{"a", many}, {"b", many}}), base::InputError);
}

TEST(Patch, PathsReachIntoArrays) {
  base::Json document = {{"a", {{"b", {1, {{"c", "old"}}}}}}};
  field_at(document, "a.b[1].c", "here") = value_like(field_at(document, "a.b[1].c", "here"), "7");
  EXPECT_EQ(document["a"]["b"][1]["c"], "7");
  EXPECT_EQ(value_like(base::Json(1), "7"), base::Json(7));
  EXPECT_EQ(value_like(base::Json::array(), "[1, 2]"), base::Json({1, 2}));
  for (const char* bad : {"x", "a.b[2]", "a.b[-1]", "a.b[1].c.d", ""}) {
    EXPECT_THROW(field_at(document, bad, "here"), base::InputError) << bad;
  }
}

}  // namespace
}  // namespace gnomon::tuner
