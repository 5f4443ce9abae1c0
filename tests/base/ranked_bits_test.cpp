#include "base/ranked_bits.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/random_seed.h"

namespace gnomon::base {
namespace {

TEST(RankedBits, CountsTheMembersBelow) {
  const test::RandomSeed seed(20261125);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 700);
    RankedBits bits(size);
    std::set<std::int64_t> expected;
    for (int i = 0; i < 5; ++i) {
      const auto begin = static_cast<std::int64_t>(random()) % size;
      const auto end = std::min(size, begin + static_cast<std::int64_t>(random() % 200));
      bits.add_range(begin, end);
      for (auto number = begin; number < end; ++number) {
        expected.insert(number);
      }
      const auto single = static_cast<std::int64_t>(random()) % size;
      bits.add(single);
      expected.insert(single);
    }
    ASSERT_EQ(bits.count(), std::ssize(expected));
    EXPECT_EQ(bits.members(), std::vector<std::int64_t>(expected.begin(), expected.end()));
    for (std::int64_t number = 0; number < size; ++number) {
      ASSERT_EQ(bits.contains(number), expected.contains(number));
      ASSERT_EQ(bits.rank(number), std::distance(expected.begin(), expected.lower_bound(number)));
    }
  }
}

}  // namespace
}  // namespace gnomon::base
