#include "sim/costs/zero_copy.h"

#include <gtest/gtest.h>

namespace gnomon::sim {
namespace {

constexpr profiles::Link link{.bandwidth_bytes_per_s = 1600, .round_trip_s = 0, .header_bytes = 16};

TEST(ZeroCopy, WholeLinesCostOneHeaderEach) {
  // 256 bytes in two requests: 256 / (256 + 2 * 16) of 1,600.
  EXPECT_DOUBLE_EQ(zero_copy_bandwidth(256, true, link), 1600.0 * 256 / 288);
  EXPECT_DOUBLE_EQ(zero_copy_bandwidth(256, false, link), 1600.0 * 256 / 288);
  EXPECT_DOUBLE_EQ(unaligned_slowdown(256, link), 1);
}

TEST(ZeroCopy, RowsAcrossLines) {
  // 160 bytes at the offsets 0, 4 … 124: up to 96 (25 of 32) they touch two lines, beyond three: 71 / 32
  // requests. Without alignment two warps read it, each split in two but at offset 0: (2 + 31 * 4) / 32.
  const double aligned = 71.0 / 32;
  const double unaligned = 126.0 / 32;
  EXPECT_DOUBLE_EQ(zero_copy_bandwidth(160, true, link), 1600 * 160 / (160 + 16 * aligned));
  EXPECT_DOUBLE_EQ(zero_copy_bandwidth(160, false, link), 1600 * 160 / (160 + 16 * unaligned));
  EXPECT_DOUBLE_EQ(unaligned_slowdown(160, link), (160 + 16 * unaligned) / (160 + 16 * aligned));
}

TEST(ZeroCopy, ShortRowsAreReadAlike) { EXPECT_DOUBLE_EQ(unaligned_slowdown(100, link), 1); }

TEST(ZeroCopy, RequestsInFlightBringOneAnswerEachInARoundTrip) {
  // 4 requests of 128 bytes in 2 s: 256 bytes a second, less than what headers leave.
  profiles::Link far = link;
  far.outstanding_reads = 4;
  far.round_trip_s = 2;
  EXPECT_DOUBLE_EQ(zero_copy_bandwidth(256, true, far), 256);
}

TEST(ZeroCopy, IsAboutWhatWasPublished) {
  // PyTorch-Direct: unaligned 78 to 82 % of the copies' bandwidth, aligned 88 to 93 %, whole lines 95 % (of
  // rows of a few hundred to a few thousand bytes; the model has no smaller losses, so is a little above).
  const profiles::Link pcie{.bandwidth_bytes_per_s = 1};
  const profiles::Link no_limit{.bandwidth_bytes_per_s = 1, .round_trip_s = 0};
  EXPECT_GT(zero_copy_bandwidth(1028, true, no_limit), 0.85);
  EXPECT_LT(zero_copy_bandwidth(1028, true, no_limit), 0.95);
  EXPECT_GT(zero_copy_bandwidth(1028, false, no_limit), 0.70);
  EXPECT_LT(zero_copy_bandwidth(1028, false, no_limit), 0.84);
  EXPECT_LE(zero_copy_bandwidth(1028, false, pcie), zero_copy_bandwidth(1028, false, no_limit));
}

}  // namespace
}  // namespace gnomon::sim
