#include "base/ranked_bits.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

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

TEST(RankedBits, ThreadsAddTogether) {
  constexpr std::int64_t size = 4000;  // words that all threads write
  constexpr int threads = 4;
  const test::RandomSeed seed;
  RankedBits bits(size);
  std::vector<std::set<std::int64_t>> added(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(thread));
      for (int i = 0; i < 600; ++i) {
        const auto number = static_cast<std::int64_t>(random() % size);
        bits.add_shared(number);
        added[static_cast<std::size_t>(thread)].insert(number);
      }
    });
  }
  std::set<std::int64_t> expected;
  for (std::size_t thread = 0; thread < running.size(); ++thread) {
    running[thread].join();
    expected.merge(added[thread]);
  }
  EXPECT_EQ(bits.count(), std::ssize(expected));
  EXPECT_EQ(bits.members(), std::vector<std::int64_t>(expected.begin(), expected.end()));
}

}  // namespace
}  // namespace gnomon::base
