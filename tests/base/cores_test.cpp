#include "base/cores.h"

#include <gtest/gtest.h>
#include <numa.h>
#include <numaif.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/interleave.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

/// A /sys of two packages with two physical cores of two hardware threads each, a node of memory a package;
/// the second threads have the numbers 4 … 7.
class TwoPackages : public ::testing::Test {
 protected:
  TwoPackages() {
    for (int number = 0; number < 8; ++number) {
      const auto topology = "sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
      write(topology + "physical_package_id", std::to_string(number % 4 / 2));
      write(topology + "core_id", std::to_string(number % 2));
    }
    write("sys/devices/system/node/online", "0-1");
    write("sys/devices/system/node/node0/cpulist", "0-1,4-5");
    write("sys/devices/system/node/node1/cpulist", "2-3,6-7");
  }
  void write(const std::string& file, const std::string& text) const { directory_.write(file, text + "\n"); }

  const test::TemporaryDirectory directory_;
  const fs::path& root_ = directory_.path();
};

TEST_F(TwoPackages, AreDescribed) {
  const auto cores = describe_cores({0, 1, 2, 3, 4, 5, 6, 7}, root_);
  EXPECT_EQ(cores[1], (Core{1, 0, 0}));
  EXPECT_EQ(cores[3], (Core{3, 1, 0}));
  EXPECT_EQ(cores[4], (Core{4, 0, 1}));
  EXPECT_EQ(physical_cores(cores), 4);
  EXPECT_EQ(cores_of_nodes(cores), (std::vector<int>{4, 4}));
  // Where the first thread of a physical core may not be used, the second is the first.
  EXPECT_EQ(describe_cores({3, 4, 5}, root_), (std::vector<Core>{{3, 1, 0}, {4, 0, 0}, {5, 0, 0}}));
}

TEST_F(TwoPackages, WorkersTakePhysicalCoresFirstAndNodesInTurn) {
  EXPECT_EQ(pinning_order(describe_cores({0, 1, 2, 3, 4, 5, 6, 7}, root_)),
            (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(pinning_order(describe_cores({0, 1, 3, 4}, root_)), (std::vector<int>{0, 3, 1, 4}));
}

TEST(Cores, ASystemThatSaysNothingHasPhysicalOnesOnOneNode) {
  const auto cores = describe_cores({2, 5}, "/nowhere");
  EXPECT_EQ(cores, (std::vector<Core>{{2, 0, 0}, {5, 0, 0}}));
  EXPECT_EQ(pinning_order(cores), (std::vector<int>{2, 5}));
}

TEST(Cores, AllowedOnesAreThoseOfTheThread) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  const auto cores = allowed_cores();
  EXPECT_EQ(static_cast<int>(cores.size()), CPU_COUNT(&set));
  for (const auto& core : cores) {
    EXPECT_TRUE(CPU_ISSET(core.number, &set));
  }
}

TEST(Cores, APinnedThreadRunsNowhereElse) {
  for (const auto& core : allowed_cores()) {
    std::atomic<bool> pinned{false};
    std::vector<Core> seen;
    int running_on = -1;
    std::thread thread([&] {
      pinned.wait(false);
      seen = allowed_cores();
      running_on = ::sched_getcpu();
    });
    pin_thread(thread.native_handle(), core.number);
    pinned = true;
    pinned.notify_all();
    thread.join();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen.front().number, core.number);
    EXPECT_EQ(running_on, core.number);
  }
  EXPECT_THROW(pin_thread(::pthread_self(), 1 << 13), Failure);
}

int policy_mode() {
  int mode = -1;
  return ::get_mempolicy(&mode, nullptr, 0, nullptr, 0) == 0 ? mode : -1;
}

TEST(Interleave, HoldsWhileItLives) {
  if (memory_nodes().empty() || policy_mode() != MPOL_DEFAULT) {
    GTEST_SKIP() << "the system tells no nodes of memory, or has another policy already";
  }
  {
    const Interleave interleave(memory_nodes());
    EXPECT_EQ(policy_mode(), MPOL_INTERLEAVE);
    {
      const Interleave inner(memory_nodes());
      EXPECT_EQ(policy_mode(), MPOL_INTERLEAVE);
    }
    EXPECT_EQ(policy_mode(), MPOL_INTERLEAVE);
  }
  EXPECT_EQ(policy_mode(), MPOL_DEFAULT);
  const Interleave nothing({});
  EXPECT_EQ(policy_mode(), MPOL_DEFAULT);
}

TEST(Interleave, NodesAreThoseOfLibnuma) {
  std::vector<int> expected;
  if (::numa_available() >= 0) {
    bitmask* const allowed = ::numa_get_mems_allowed();
    for (unsigned node = 0; node < allowed->size; ++node) {
      if (::numa_bitmask_isbitset(allowed, node) != 0) {
        expected.push_back(static_cast<int>(node));
      }
    }
    ::numa_bitmask_free(allowed);
  }
  EXPECT_EQ(memory_nodes(), expected);
}

TEST(Interleave, SpreadsPagesThatAreThere) {
  if (memory_nodes().empty()) {
    GTEST_SKIP() << "the system tells no nodes of memory";
  }
  std::vector<std::byte> memory(1 << 20, std::byte{7});
  const auto mode_of_the_middle = [&] {
    int mode = -1;
    EXPECT_EQ(::get_mempolicy(&mode, nullptr, 0, memory.data() + memory.size() / 2, MPOL_F_ADDR), 0);
    return mode;
  };
  spread_pages(memory, {});
  EXPECT_EQ(mode_of_the_middle(), MPOL_DEFAULT);
  spread_pages(memory, memory_nodes());
  EXPECT_EQ(mode_of_the_middle(), MPOL_INTERLEAVE);
  EXPECT_EQ(memory, std::vector<std::byte>(memory.size(), std::byte{7}));
  EXPECT_THROW(spread_pages(memory, {memory_nodes().back() + 1}), Failure);
  spread_pages(std::span(memory).first(10), memory_nodes());  // less than a page
}

TEST(Interleave, RefusesNodesThatAreNotThere) {
  if (memory_nodes().empty()) {
    GTEST_SKIP() << "the system tells no nodes of memory";
  }
  EXPECT_THROW(Interleave({memory_nodes().back() + 1}), Failure);
  EXPECT_EQ(policy_mode(), MPOL_DEFAULT);
}

}  // namespace
}  // namespace gnomon::base
