#include "plan/exactness.h"

#include <gtest/gtest.h>

#include <string>

namespace gnomon::plan {
namespace {

Exactness of_preset(const char* name, int devices = 1) {
  Plan plan = find_plan(name);
  plan.devices = devices;
  return exactness_of(plan);
}

TEST(Exactness, IsWhatTheFieldsPromise) {
  EXPECT_EQ(of_preset("device"), Exactness::bits);
  EXPECT_EQ(of_preset("gnomon"), Exactness::bits);
  EXPECT_EQ(of_preset("dgl"), Exactness::bits);
  EXPECT_EQ(of_preset("salient"), Exactness::batches) << "trained as they become ready";
  EXPECT_EQ(of_preset("morphgl"), Exactness::batches);
  EXPECT_EQ(of_preset("a3gnn-mode1"), Exactness::approximate);
  EXPECT_EQ(of_preset("gas"), Exactness::approximate) << "in order, but with older embeddings";
  EXPECT_EQ(of_preset("hanoi"), Exactness::approximate);
}

TEST(Exactness, SeveralDevicesAverageGradients) {
  EXPECT_EQ(of_preset("dsp"), Exactness::bits);
  EXPECT_EQ(of_preset("dsp", 4), Exactness::order);
  EXPECT_EQ(of_preset("dsp", 0), Exactness::order) << "all there are";
  Plan factored = find_plan("gnnlab");
  factored.order = Order::index;
  factored.devices = 4;
  EXPECT_EQ(exactness_of(factored), Exactness::batches) << "samplers stand in when the queue is full";
  factored.switch_roles = false;
  EXPECT_EQ(exactness_of(factored), Exactness::order);
}

TEST(Exactness, PaddedMiniBatchesRoundOtherwise) {
  Plan plan = find_plan("device");
  plan.graphs = true;
  EXPECT_EQ(exactness_of(plan), Exactness::order);
}

// A plan file states whether it is exact; the fields decide what it promises.
TEST(Exactness, AgreesWithThePresetsOwnWord) {
  for (const Plan& preset : presets()) {
    EXPECT_EQ(exactness_of(preset) > Exactness::approximate, preset.exact) << preset.name;
  }
}

TEST(Exactness, LevelsAreNamedAndDescribed) {
  for (const auto& [level, name] : base::EnumNames<Exactness>::values) {
    EXPECT_EQ(base::value_of<Exactness>("--exact", std::string(name)), level);
    EXPECT_FALSE(description_of(level).empty());
  }
  EXPECT_LT(Exactness::approximate, Exactness::batches);
  EXPECT_LT(Exactness::batches, Exactness::order);
  EXPECT_LT(Exactness::order, Exactness::bits);
}

}  // namespace
}  // namespace gnomon::plan
