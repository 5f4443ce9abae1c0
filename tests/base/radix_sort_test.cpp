#include "base/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/random_seed.h"

namespace gnomon::base {
namespace {

using Record = std::pair<std::uint64_t, int>;

std::uint64_t key_of(const Record& record) { return record.first; }

TEST(RadixSort, MatchesAStableSort) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const int bits : {0, 1, 11, 12, 22, 40, 64}) {
    std::vector<Record> records;
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t key = bits == 0 ? 0 : random() >> (64 - bits);
      records.emplace_back(i % 3 == 0 ? key : key % 50, i);  // with repetitions
    }
    std::vector<Record> expected = records;
    std::ranges::stable_sort(expected, {}, key_of);
    std::vector<Record> scratch;
    radix_sort(records, scratch, bits, key_of);
    EXPECT_EQ(records, expected) << bits << " bits";
  }
}

}  // namespace
}  // namespace gnomon::base
