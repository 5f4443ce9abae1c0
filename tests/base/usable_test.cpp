#include "base/usable.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

/// A false root directory with the files that describe control groups.
class ControlGroupFiles : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { directory_.write(path, text + "\n"); }

  const test::TemporaryDirectory directory_;
  const fs::path& root_ = directory_.path();
};

TEST_F(ControlGroupFiles, NoneMeansNoLimit) {
  EXPECT_FALSE(quota_cores(root_));
  EXPECT_FALSE(memory_limit_bytes(root_));
}

TEST_F(ControlGroupFiles, Version2TakesTheLowestOfAllGroupsAbove) {
  write("proc/self/cgroup", "0::/jobs/one");
  write("sys/fs/cgroup/jobs/one/cpu.max", "max 100000");
  write("sys/fs/cgroup/jobs/cpu.max", "150000 100000");
  write("sys/fs/cgroup/jobs/one/memory.max", "4000000");
  write("sys/fs/cgroup/jobs/memory.max", "max");
  EXPECT_EQ(quota_cores(root_), 1.5);
  EXPECT_EQ(memory_limit_bytes(root_), 4e6);
}

TEST_F(ControlGroupFiles, Version2InAContainerThatSeesOnlyItsOwnMount) {
  write("proc/self/cgroup", "0::/host/only/path");
  write("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(quota_cores(root_), 4);
}

TEST_F(ControlGroupFiles, Version1) {
  write("proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1048576");
  EXPECT_EQ(quota_cores(root_), 2.5);
  EXPECT_EQ(memory_limit_bytes(root_), 1048576);
}

TEST(UsableCores, AffinityLimitsTheCores) {
  int cores = 0;
  std::thread([&] {  // the mask of this thread only
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all)) {
        CPU_SET(cpu, &one);
        break;
      }
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    cores = usable_cores();
  })
      .join();
  EXPECT_EQ(cores, 1);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace gnomon::base
