#include "plan/host_cache.h"

#include <gtest/gtest.h>

namespace gnomon::plan {
namespace {

TEST(HostCache, CountsWhatFindsItsEntries) {
  // Static: a table of 4 bytes a vertex. Recent: 17 bytes an entry. Optimal: 8 bytes a vertex and 24 an
  // entry, of seven eighths.
  EXPECT_EQ(host_cache_rows(CachePolicy::presample, 4000 + 10 * 256, 1000, 256), 10);
  EXPECT_EQ(host_cache_rows(CachePolicy::recent, 10 * (256 + 17), 1000, 256), 10);
  EXPECT_EQ(host_cache_rows(CachePolicy::optimal, 16'000, 1000, 256), 21);  // 6,000 / 280
  EXPECT_EQ(host_cache_blocks(10 * (512 + 17), 1000, 512), 10);
}

TEST(HostCache, HoldsNoMoreThanThereIsAndNothingInTooLittle) {
  EXPECT_EQ(host_cache_rows(CachePolicy::random, 1e9, 1000, 256), 1000);
  EXPECT_EQ(host_cache_rows(CachePolicy::random, 3000, 1000, 256), 0);
  EXPECT_EQ(host_cache_rows(CachePolicy::none, 1e9, 1000, 256), 0);
  EXPECT_EQ(host_cache_blocks(1e9, 7, 512), 7);
}

}  // namespace
}  // namespace gnomon::plan
