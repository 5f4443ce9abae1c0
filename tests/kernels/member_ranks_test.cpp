#include "kernels/cpu/member_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/kernels/instruction_set.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

/// The definition: one id after the other, by a binary search among the members.
std::vector<std::uint32_t> expected_ranks(const std::vector<std::uint32_t>& ids,
                                          const std::vector<std::int64_t>& members) {
  std::vector<std::uint32_t> ranks;
  for (const std::int64_t id : ids) {
    const auto place = std::lower_bound(members.begin(), members.end(), id);
    if (place != members.end() && *place == id) {
      ranks.push_back(static_cast<std::uint32_t>(place - members.begin()));
    }
  }
  return ranks;
}

class MemberRanks : public testing::TestWithParam<std::int64_t> {};

TEST_P(MemberRanks, AreThoseOfTheMembersInOrder) {
  if (!choose_instruction_set(GetParam())) {
    GTEST_SKIP() << "not on this machine";
  }
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const auto size = static_cast<std::int64_t>(1 + random() % 5000);
    base::RankedBits members(size);
    for (auto left = random() % 3000; left > 0; --left) {
      members.add(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size)));
    }
    members.add_range(size / 3, size / 3 + static_cast<std::int64_t>(random() % 40) % (size - size / 3));
    members.count();
    std::vector<std::uint32_t> ids(random() % 200);
    std::generate(ids.begin(), ids.end(),
                  [&] { return static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(size)); });
    std::vector<std::uint32_t> ranks(ids.size() + member_ranks_slack);
    ranks.resize(member_ranks(ids, members, ranks.data()));
    ASSERT_EQ(ranks, expected_ranks(ids, members.members())) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, MemberRanks, testing::Values(HWY_AVX3, HWY_AVX2, HWY_SCALAR));

}  // namespace
}  // namespace gnomon::kernels::cpu
