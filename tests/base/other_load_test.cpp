#include "base/other_load.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <ctime>

#include "base/cores.h"

namespace gnomon::base {
namespace {

// Recorded on a virtual machine of two cores, ten seconds apart, while two other processes were running.
constexpr std::string_view stat_before =
    "cpu  402311 117 60012 9913002 8123 0 2210 4411 0 0\n"
    "cpu0 201144 60 30010 4956500 4100 0 1200 2205 0 0\n"
    "cpu1 201167 57 30002 4956502 4023 0 1010 2206 0 0\n"
    "intr 88123 0 0\nctxt 123456\nbtime 1700000000\n";
constexpr std::string_view stat_after =
    "cpu  403911 117 60112 9913252 8123 0 2220 4451 0 0\n"
    "cpu0 201944 60 30060 4956625 4100 0 1205 2225 0 0\n"
    "cpu1 201967 57 30052 4956627 4023 0 1015 2226 0 0\n"
    "intr 88200 0 0\nctxt 123999\nbtime 1700000000\n";
constexpr double ticks_per_s = 100;
constexpr std::array both{0, 1};

TEST(OtherLoad, ReadsTheLinesOfTheAskedCores) {
  const std::array second{1};
  const auto times = parse_cpu_times(stat_before, second, ticks_per_s);
  ASSERT_TRUE(times.has_value());
  EXPECT_DOUBLE_EQ(times->busy_s, 2011.67 + 0.57 + 300.02 + 10.10);
  EXPECT_DOUBLE_EQ(times->idle_s, 49565.02 + 40.23);
  EXPECT_DOUBLE_EQ(times->steal_s, 22.06);
  const std::array third{2};
  EXPECT_FALSE(parse_cpu_times(stat_before, third, ticks_per_s));
  EXPECT_FALSE(parse_cpu_times("", both, ticks_per_s));
}

TEST(OtherLoad, OlderKernelsCountLess) {
  const std::array first{0};
  const auto times = parse_cpu_times("cpu0 100 0 50 800\n", first, ticks_per_s);
  ASSERT_TRUE(times.has_value());
  EXPECT_DOUBLE_EQ(times->busy_s, 1.5);
  EXPECT_DOUBLE_EQ(times->idle_s, 8);
  EXPECT_DOUBLE_EQ(times->steal_s, 0);
}

TEST(OtherLoad, IsWhatThisProcessDidNotUse) {
  const auto begin = parse_cpu_times(stat_before, both, ticks_per_s);
  const auto end = parse_cpu_times(stat_after, both, ticks_per_s);
  // 17.1 s busy, 2.5 s idle and 0.4 s stolen of 20 s.
  const auto load = load_between(*begin, *end, 7.1);
  ASSERT_TRUE(load.has_value());
  EXPECT_NEAR(load->processes_share, 0.5, 1e-9);
  EXPECT_NEAR(load->steal_share, 0.02, 1e-9);
  EXPECT_TRUE(load->is_busy());
  EXPECT_EQ(busy_text(load),
            "the machine was busy: other processes took 50 % and other guests of the host 2 % of its cores' "
            "time, so measured times are likely to be too long");
  const auto own = load_between(*begin, *end, 17.1);
  EXPECT_NEAR(own->processes_share, 0, 1e-9);
  EXPECT_FALSE(own->is_busy());
  EXPECT_EQ(busy_text(own), "");
  EXPECT_EQ(busy_text(std::nullopt), "");
  EXPECT_FALSE(load_between(*begin, *begin, 0)) << "no time passed";
}

// What this process itself does is not the load of others.
TEST(OtherLoad, TheMeterLeavesOutThisProcess) {
  const LoadMeter meter;
  const auto own_begin = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (volatile double sum = 0; elapsed_s() < 1.5;) {
    sum = sum + 1;
  }
  const auto load = meter.load();
  if (!load) {
    GTEST_SKIP() << "/proc/stat cannot be read here";
  }
  const double own_s = static_cast<double>(std::clock() - own_begin) / CLOCKS_PER_SEC;
  const double all_s = elapsed_s() * static_cast<double>(allowed_core_numbers().size());
  EXPECT_LE(load->processes_share + load->steal_share, 1 - own_s / all_s + 0.05);
}

}  // namespace
}  // namespace gnomon::base
