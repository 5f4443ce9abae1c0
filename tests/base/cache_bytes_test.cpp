#include "base/cache_bytes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace gnomon::base {
namespace {

TEST(CacheBytes, AreThoseOfTheKernel) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index0/size");  // the first core's L1 data cache
  std::size_t kib = 0;
  std::string unit;
  if (!(file >> kib >> unit) || unit != "K") {
    GTEST_SKIP() << "the kernel does not tell the size of the cache";
  }
  EXPECT_EQ(cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 0), kib << 10);
}

TEST(CacheBytes, AreTheOtherValueIfUnknown) { EXPECT_EQ(cache_bytes(-1, 7), 7U); }

}  // namespace
}  // namespace gnomon::base
