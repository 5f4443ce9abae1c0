#include "runtime/speed/bandwidth.h"

#include <gtest/gtest.h>

namespace gnomon::runtime {
namespace {

TEST(Bandwidth, IsThatOfTheFastestCopyAfterTheFirst) {
  int copies = 0;
  const double bytes_per_s = best_bandwidth(1000, [&] {
    ++copies;
    return copies == 1 ? 0.1 : copies == 7 ? 2.0 : 4.0;
  });
  EXPECT_EQ(bytes_per_s, 500);
  EXPECT_EQ(copies, 11);
}

}  // namespace
}  // namespace gnomon::runtime
