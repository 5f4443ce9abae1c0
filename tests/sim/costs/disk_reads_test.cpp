#include "sim/costs/disk_reads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

#include "plan/host_cache.h"
#include "tests/random_seed.h"

namespace gnomon::sim {
namespace {

/// Counts the reads of items drawn at random: one goes on where the next item begins near its end.
double counted_reads(double wanted, std::int64_t items, std::int64_t item_bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::int64_t> chosen;
  while (static_cast<double>(chosen.size()) < wanted) {
    chosen.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(items)));
  }
  double reads = 0;
  std::int64_t begin = 0;
  std::int64_t end = -(std::int64_t{1} << 40);
  for (const std::int64_t item : chosen) {
    const std::int64_t offset = item * item_bytes;
    const bool is_near = offset <= end + static_cast<std::int64_t>(plan::disk_gap_bytes);
    if (!is_near || offset >= begin + static_cast<std::int64_t>(plan::disk_buffer_bytes)) {
      ++reads;
      begin = offset;
    }
    end = offset + item_bytes;
  }
  return reads;
}

TEST(DiskReads, AreThoseOfItemsDrawnAtRandom) {
  const test::RandomSeed seed;
  for (const double wanted : {200.0, 2000.0, 20'000.0}) {
    for (const std::int64_t item_bytes : {64, 256, 1024}) {
      constexpr std::int64_t items = 400'000;
      const auto expected = counted_reads(wanted, items, item_bytes, seed);
      const auto reads = reads_of({wanted, items, static_cast<double>(item_bytes)}, 4096);
      EXPECT_NEAR(reads.reads, expected, 0.15 * expected + 10) << wanted << " of " << item_bytes << " bytes";
    }
  }
}

TEST(DiskReads, OfEverythingAreAsLargeAsBuffers) {
  const auto reads = reads_of({1e6, 1e6, 256}, 4096);
  EXPECT_DOUBLE_EQ(reads.bytes, 256e6);
  EXPECT_DOUBLE_EQ(reads.reads, 256e6 / plan::disk_buffer_bytes);
}

TEST(DiskReads, OfFewTakeABlockEach) {
  const auto reads = reads_of({100, 1e12, 256}, 4096);
  EXPECT_NEAR(reads.reads, 100, 1e-3);
  EXPECT_NEAR(reads.bytes, 409'600, 1);
  EXPECT_NEAR(reads_of({100, 1e12, 5000}, 4096).reads, 200, 1e-3) << "two blocks an item";
  EXPECT_DOUBLE_EQ(reads_of({0, 100, 256}, 4096).reads, 0);
}

}  // namespace
}  // namespace gnomon::sim
