#include "runtime/macro/macro_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

std::vector<MacroGroup> random_groups(std::mt19937& random) {
  std::vector<MacroGroup> groups(1 + random() % 6);
  graph::VertexId next = 0;
  for (auto& group : groups) {
    group.train.resize(1 + random() % 40);
    std::generate(group.train.begin(), group.train.end(), [&] { return next++; });
  }
  return groups;
}

TEST(MacroLayout, EveryPassHasEachTrainingVertexOnce) {
  const test::RandomSeed seed(20261125);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    const auto groups = random_groups(random);
    plan::Job job;
    job.batch_size = 1 + static_cast<int>(random() % 12);
    const MacroLayout layout(groups, job, round);
    for (std::int64_t pass = 0; pass < 3; ++pass) {
      std::vector<std::vector<graph::VertexId>> found(groups.size());
      for (std::int64_t batch = 0; batch < layout.batches(); ++batch) {
        const auto number = batch + pass * layout.batches();
        const auto seeds = layout.seeds_of(number);
        ASSERT_FALSE(seeds.empty());
        ASSERT_LE(std::ssize(seeds), job.batch_size);
        auto& of_group = found[static_cast<std::size_t>(layout.group_of(number))];
        of_group.insert(of_group.end(), seeds.begin(), seeds.end());
      }
      for (std::size_t group = 0; group < groups.size(); ++group) {
        std::sort(found[group].begin(), found[group].end());
        EXPECT_EQ(found[group], groups[group].train) << "pass " << pass;
      }
    }
  }
}

// 131 training vertices in mini-batches of at most 64: 43, 44 and 44.
TEST(MacroLayout, DividesEqually) {
  std::vector<MacroGroup> groups(1);
  groups[0].train.resize(131);
  plan::Job job;
  job.batch_size = 64;
  const MacroLayout layout(groups, job, 0);
  std::vector<std::size_t> sizes;
  for (std::int64_t batch = 0; batch < layout.batches(); ++batch) {
    sizes.push_back(layout.seeds_of(batch).size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{43, 44, 44}));
}

TEST(MacroLayout, ShufflesAnewInEachPassAndEpoch) {
  std::vector<MacroGroup> groups(1);
  groups[0].train.resize(1000);
  std::iota(groups[0].train.begin(), groups[0].train.end(), 0);
  plan::Job job;
  job.batch_size = 1000;
  const auto order = [&](std::int64_t epoch, std::int64_t pass) {
    const MacroLayout layout(groups, job, epoch);
    const auto seeds = layout.seeds_of(pass);
    return std::vector<graph::VertexId>(seeds.begin(), seeds.end());
  };
  EXPECT_EQ(order(3, 1), order(3, 1));
  EXPECT_NE(order(3, 0), order(3, 1));
  EXPECT_NE(order(3, 0), order(4, 0));
}

}  // namespace
}  // namespace gnomon::runtime
