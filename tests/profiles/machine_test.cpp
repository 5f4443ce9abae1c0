#include "profiles/measure/machine.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/usable.h"

namespace gnomon::profiles {
namespace {

TEST(Machine, FactsAreWithinPhysicalBounds) {
  bool converged = true;
  const auto machine = measure_machine({.rule = {.asked_interval = 0.5, .time_limit_s = 0.5}}, converged);
  EXPECT_FALSE(machine.cpu.name.empty());
  EXPECT_EQ(machine.cpu.cores, base::usable_cores());
  EXPECT_GT(machine.cpu.memory_bytes.value(), 64e6);
  // Between a slow disk and faster than any memory there is, sanitizers included.
  EXPECT_GT(machine.cpu.memory_bandwidth_bytes_per_s.value(), 5e7);
  EXPECT_LT(machine.cpu.memory_bandwidth_bytes_per_s.value(), 1e13);
  EXPECT_GT(machine.cpu.copy_bandwidth_bytes_per_s.value(), 5e7);
  EXPECT_LT(machine.cpu.copy_bandwidth_bytes_per_s.value(), 1e13);
  EXPECT_EQ(machine.device.kind, DeviceKind::host);
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
