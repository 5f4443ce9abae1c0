#include "profiles/measure/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "base/usable.h"

namespace gnomon::profiles {
namespace {

/// The median of the bytes a second that `act`, which moves `bytes`, reaches in seven calls.
template <class Act>
double median_rate(std::size_t bytes, const Act& act) {
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i) {
    const Stopwatch watch;
    act();
    rates.push_back(static_cast<double>(bytes) / watch.seconds());
  }
  return base::median(rates);
}

/// What this thread alone reaches on 64 MB, which are in no cache of its core, by functions of the C library,
/// which are as fast whatever the tests are compiled with.
struct DirectRates {
  double read = 0;
  double copy = 0;
};

/// More than caches hold: a copy within a cache may be ten times as fast, above all on a busy machine.
constexpr std::size_t copied_bytes = std::size_t{64} << 20;

DirectRates direct_rates() {
  const std::vector<char> source(copied_bytes, 1);
  std::vector<char> target(source.size());
  return {
      median_rate(source.size(), [&] { EXPECT_EQ(std::memchr(source.data(), 2, source.size()), nullptr); }),
      median_rate(source.size(), [&] { std::memcpy(target.data(), source.data(), source.size()); })};
}

TEST(Machine, BandwidthsAgreeWithDirectTimings) {
  // Four times as fast as the faster of two direct timings, or four times as slow as the slower one: far more
  // than neighbours on the machine cause between two timings, and less than a wrong unit (bits, words, one
  // thread's part taken for all).
  constexpr double factor = 4;
  bool converged = true;
  const auto before = direct_rates();
  const auto machine = measure_machine(
      {.rule = {.asked_interval = 0.5, .time_limit_s = 0.5}, .copy_bytes = copied_bytes}, converged);
  const auto after = direct_rates();
  const double read = machine.cpu.memory_bandwidth_bytes_per_s.value();
  EXPECT_GT(read, std::min(before.read, after.read) / factor);
  EXPECT_LT(read, std::max(before.read, after.read) * factor * base::usable_cores());
  const double copy = machine.cpu.copy_bandwidth_bytes_per_s.value();
  EXPECT_GT(copy, std::min(before.copy, after.copy) / factor);
  EXPECT_LT(copy, std::max(before.copy, after.copy) * factor);
}

TEST(Machine, FactsAreThoseOfTheSystem) {
  bool converged = true;
  const auto machine = measure_machine({.rule = {.asked_interval = 0.5, .time_limit_s = 0.02}}, converged);
  EXPECT_EQ(machine.cpu.name, cpu_name());
  EXPECT_FALSE(machine.cpu.name.empty());
  EXPECT_EQ(machine.cpu.cores, base::usable_cores());
  EXPECT_EQ(machine.cpu.memory_bytes, base::usable_memory_bytes());
  EXPECT_EQ(machine.device.kind, DeviceKind::host);
  EXPECT_EQ(machine.device.name, machine.cpu.name);
}

TEST(Machine, SaysWhenTheTimeWasTooShort) {
  bool converged = true;
  measure_machine({.rule = {.asked_interval = 1e-9, .time_limit_s = 0.01}}, converged);
  EXPECT_FALSE(converged);
}

TEST(Machine, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  bool converged = true;
  EXPECT_THROW(measure_machine({.stop = &stop}, converged), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::profiles
