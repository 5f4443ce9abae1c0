#include "profiles/measure/probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/usable.h"
#include "profiles/measure/speeds.h"
#include "profiles/measure/tensor_probes.h"

namespace gnomon::profiles {
namespace {

TEST(Probes, AreVisitedInTurnsAndAtLeastFiveTimes) {
  std::vector<int> order;
  std::vector<Probe> probes;
  for (int i = 0; i < 3; ++i) {
    probes.push_back({{.work = Work::branches}, 10, [&order, i] { order.push_back(i); }});
  }
  const auto speeds = measure_speeds(probes, {.time_limit_s = 0, .visit_s = 0});
  std::vector<int> expected;
  for (int round = 0; round < 5; ++round) {
    expected.insert(expected.end(), {0, 0, 1, 1, 2, 2});  // each warms up first
  }
  EXPECT_EQ(order, expected);
  ASSERT_EQ(speeds.size(), 3U);
  for (const auto& speed : speeds) {
    EXPECT_EQ(speed.samples, 5);
    EXPECT_FALSE(speed.converged);
    EXPECT_TRUE(std::isfinite(speed.interval));
    EXPECT_GT(speed.per_s, 0);
  }
}

// With an interval that everything keeps, each probe stops by itself after the ten samples that are needed.
TEST(Probes, EndWhenTheyAreSure) {
  const std::vector<Probe> probes{{{.work = Work::branches}, 1, [] {}}};
  const auto speeds = measure_speeds(probes, {.asked_interval = 1e6, .time_limit_s = 1e6, .visit_s = 0});
  EXPECT_EQ(speeds.front().samples, 10);
  EXPECT_TRUE(speeds.front().converged);
}

// Within the time limit, with samples that no interval satisfies.
TEST(Probes, MayShareTheTimeEqually) {
  const auto waiting = [](double seconds) {
    return Probe{{.work = Work::branches}, 1, [seconds] {
                   std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
                 }};
  };
  const auto speeds = measure_speeds(
      {waiting(0.001), waiting(0.03)},
      {.asked_interval = 0, .time_limit_s = 0.2, .visit_s = 0, .min_visits = 3, .equal_time = true});
  EXPECT_EQ(speeds[1].samples, 3);
  EXPECT_GT(speeds[0].samples, 3);
}

TEST(Probes, AreWarmedUpOnlyIfTheyAreShort) {
  int runs = 0;
  const std::vector<Probe> probes{{{.work = Work::branches}, 1, [&] {
                                     ++runs;
                                     std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                   }}};
  measure_speeds(probes, {.time_limit_s = 0, .visit_s = 0, .min_visits = 2, .max_warm_up_s = 0.001});
  EXPECT_EQ(runs, 3) << "before the first visit";
}

TEST(Probes, StopWhenAsked) {
  const std::atomic<bool> stop = true;
  const std::vector<Probe> probes{{{.work = Work::branches}, 1, [] {}}};
  EXPECT_THROW(measure_speeds(probes, {.stop = &stop}), base::Interrupted);
}

std::set<Work> kinds_of(const std::vector<Speed>& speeds) {
  std::set<Work> kinds;
  for (const auto& speed : speeds) {
    kinds.insert(speed.work);
  }
  return kinds;
}

TEST(DeviceProbes, RunOnWhateverTensorsLieOn) {
  const auto speeds = measure_speeds(device_probes(c10::Device(c10::kCPU), std::size_t{1} << 20),
                                     {.time_limit_s = 0, .visit_s = 0});
  EXPECT_EQ(kinds_of(speeds), (std::set{Work::device_dense_fp32, Work::device_dense_bf16, Work::device_copies,
                                        Work::device_rows, Work::link_copies, Work::launches}));
  EXPECT_NO_THROW(check({.speeds = speeds}, "speeds"));
}

TEST(WholeMachine, OfAHostHasItsKindsAndNoGpus) {
  const auto machine = measure_whole_machine({.time_limit_s = 0.1, .max_bytes = std::size_t{1} << 20});
  ASSERT_TRUE(machine.speeds.has_value());
  EXPECT_NO_THROW(check(*machine.speeds, "speeds"));
  auto kinds = kinds_of(machine.speeds->speeds);
  kinds.erase(Work::dense_bf16);  // on processors with instructions for it
  EXPECT_EQ(kinds,
            (std::set{Work::dense_fp32, Work::sparse, Work::random_lines, Work::copies, Work::page_rows,
                      Work::huge_page_rows, Work::inserts, Work::branches, Work::operations}));
  for (const auto& speed : machine.speeds->speeds) {
    EXPECT_TRUE(speed.threads == 1 || speed.threads == base::usable_cores());
    EXPECT_LE(speed.size.value_or(1), 1 << 20);
  }
  EXPECT_EQ(machine.machine.cpu.cores, base::usable_cores());
  EXPECT_FALSE(machine.name.empty());
  EXPECT_FALSE(machine.machine.disk.bandwidth_bytes_per_s.has_value());
}

}  // namespace
}  // namespace gnomon::profiles
