#include "runtime/emulated/shared_link.h"

#include <gtest/gtest.h>

#include "tests/runtime/emulated/test_clock.h"

namespace gnomon::runtime::emulated {
namespace {

constexpr EmulatedLink buffered_link{
    .bandwidth_bytes_per_s = 1e9, .round_trip_s = 1e-3, .outstanding_reads = 100, .header_bytes = 16};

class SharedLinkTest : public ::testing::Test {
 protected:
  double seconds_of(const auto& act) {
    const double begin_s = clock_.now_s();
    act();
    return clock_.now_s() - begin_s;
  }
  TestClock clock_;
  SharedLink link_{buffered_link, clock_};
};

TEST_F(SharedLinkTest, ACopyTakesItsBytesAndARoundTrip) {
  bool moved = false;
  EXPECT_NEAR(seconds_of([&] { link_.copy(2'000'000, [&] { moved = true; }); }), 2e-3 + 1e-3, 1e-9);
  EXPECT_TRUE(moved);
  EXPECT_EQ(link_.use(), (LinkUse{.copied_bytes = 2'000'000}));
}

TEST_F(SharedLinkTest, ACopyThatTakesLongerOnTheHostIsNotMadeLonger) {
  EXPECT_NEAR(seconds_of([&] { link_.copy(1000, [&] { clock_.wait_until(clock_.now_s() + 1); }); }), 1, 1e-9);
}

TEST_F(SharedLinkTest, ReadsTakeTheirBytesAndHeaders) {
  const ZeroCopyReads reads{.requests = 1000, .bytes = 128'000};
  EXPECT_DOUBLE_EQ(wire_s(reads, buffered_link), (128'000 + 16'000) / 1e9);
  EXPECT_DOUBLE_EQ(in_flight_s(reads, buffered_link), 10e-3);
  // 1000 reads of which 100 are in flight take ten round trips, longer than their bytes.
  EXPECT_NEAR(seconds_of([&] { link_.read(reads, 2); }), 10e-3 + 2 * 1e-3, 1e-9);
  auto wide = buffered_link;
  wide.outstanding_reads = 1e6;
  SharedLink many(wide, clock_);
  EXPECT_NEAR(seconds_of([&] { many.read(reads, 1); }), 144e-6 + 1e-3, 1e-9);
  EXPECT_EQ(many.use().reads, reads);
}

TEST_F(SharedLinkTest, CopiesAndReadsContend) {
  // The reads begin while the copy is under way: each gets half of the bandwidth until the reads are done.
  auto wide = buffered_link;
  wide.outstanding_reads = 1e9;
  wide.round_trip_s = 0;
  SharedLink link(wide, clock_);
  const double copy_s = seconds_of([&] {
    link.copy(4'000'000, [&] {
      EXPECT_NEAR(seconds_of([&] { link.read({.requests = 1, .bytes = 999'984}, 1); }), 2e-3, 1e-9);
    });
  });
  EXPECT_NEAR(copy_s, 5e-3, 1e-9);
}

TEST_F(SharedLinkTest, TheDirectionsDoNotContend) {
  const double both_s = seconds_of([&] {
    link_.copy(3'000'000, [&] {
      EXPECT_NEAR(seconds_of([&] {
                    link_.copy(
                        1'000'000, [] {}, SharedLink::Direction::to_host);
                  }),
                  2e-3, 1e-9);
    });
  });
  EXPECT_NEAR(both_s, 4e-3, 1e-9);
}

}  // namespace
}  // namespace gnomon::runtime::emulated
