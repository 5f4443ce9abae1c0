#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "schedule/run_epoch.h"
#include "tests/random_seed.h"
#include "tests/schedule/macro_batch_plan.h"
#include "tests/virtual_machine.h"

namespace gnomon::schedule {
namespace {

using plan::Plan;
using plan::Route;
using test::macro_batch_plan;
using test::VirtualMachine;

VirtualMachine machine_of(const std::map<Stage, double>& seconds, int workers = 1) {
  return {workers, [seconds](Stage stage, std::int64_t) { return seconds.at(stage); }};
}

/// Reading a macro-batch takes 4 seconds, all else one.
VirtualMachine slow_disk() {
  return machine_of({{Stage::cpu_batch, 1}, {Stage::transfer, 1}, {Stage::train, 1}, {Stage::group_read, 4}});
}

TEST(MacroBatches, ReadTheNextOneWhileTheResidentOneIsUsed) {
  // Two macro-batches of two mini-batches. The first is there at 4, the second at 8. Mini-batches 0 and 1 are
  // drawn 4..6, 2 and 3 8..10; the last is copied 10..11 and trained 11..12.
  auto machine = slow_disk();
  EXPECT_DOUBLE_EQ(run_epoch(macro_batch_plan(Route::cpu, 2, 1), 4, machine).seconds(), 12);
}

TEST(MacroBatches, AreTrainedOnceMoreWhileTheNextOneIsRead) {
  // As above, but in 6..8 the first macro-batch is drawn from once more.
  auto plan = macro_batch_plan(Route::cpu, 2, 1);
  plan.macro.passes = 2;
  auto machine = slow_disk();
  const auto log = run_epoch(plan, 4, machine);
  EXPECT_DOUBLE_EQ(log.seconds(), 12);
  ASSERT_EQ(log.trained.size(), 6U);
  const std::vector<std::pair<std::int64_t, int>> expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}};
  for (std::int64_t position = 0; position < 6; ++position) {
    const auto [index, pass] = machine.assigned(position);
    EXPECT_EQ(std::pair(index, pass), expected[static_cast<std::size_t>(position)]) << position;
  }
}

TEST(MacroBatches, TheLastOneIsNotRepeated) {
  auto plan = macro_batch_plan(Route::cpu, 1, 1);
  plan.macro.passes = 4;
  auto machine = slow_disk();
  EXPECT_EQ(run_epoch(plan, 3, machine).trained.size(), 3U);
}

TEST(MacroBatches, TheHostSamplesForManyDeviceBatches) {
  // Two macro-batches, each 3 on the one worker and 1 to ship: there at 4 and (after the first is opened) at
  // 8. Device: 1 + 2 a batch, 4..10 for the first two; the second is there: 10..16.
  auto machine = machine_of(
      {{Stage::device_batch, 1}, {Stage::train, 2}, {Stage::group_prepare, 3}, {Stage::group_transfer, 1}});
  EXPECT_DOUBLE_EQ(run_epoch(macro_batch_plan(Route::device, 2, 1), 4, machine).seconds(), 16);
}

TEST(MacroBatches, HaveTheSizesThatTheMachineTells) {
  // Three mini-batches in the first macro-batch and one in the second, which is there at 8: drawn 4..7, 8..9.
  auto machine = slow_disk();
  machine.take_group_sizes({3, 1});
  EXPECT_DOUBLE_EQ(run_epoch(macro_batch_plan(Route::cpu, 2, 1), 4, machine).seconds(), 11);
}

/// The macro-batch of each index of the list.
std::vector<int> groups_of(const std::vector<std::int64_t>& sizes) {
  std::vector<int> groups;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    groups.insert(groups.end(), static_cast<std::size_t>(sizes[group]), static_cast<int>(group));
  }
  return groups;
}

/// Every mini-batch once in the first pass, every further pass whole, and macro-batches one after the other.
void check_passes(const Plan& plan, const EpochLog& log, const std::vector<std::int64_t>& sizes,
                  const VirtualMachine& machine) {
  const auto groups = groups_of(sizes);
  std::map<std::pair<int, int>, std::set<std::int64_t>> trained;  // by macro-batch and pass
  int last_group = 0;
  for (const auto position : log.trained) {
    const auto [index, pass] = machine.assigned(position);
    const int group = groups.at(static_cast<std::size_t>(index));
    ASSERT_GE(group, last_group);
    last_group = group;
    ASSERT_LT(pass, plan.macro.passes);
    ASSERT_TRUE((trained[{group, pass}].insert(index).second)) << "twice in a pass";
  }
  for (const auto& [key, indices] : trained) {
    EXPECT_EQ(std::ssize(indices), sizes[static_cast<std::size_t>(key.first)]);
  }
  for (int group = 0; group < std::ssize(sizes); ++group) {
    EXPECT_TRUE(trained.contains({group, 0}));
  }
}

/// The data of at most two macro-batches are in memory: while one is loaded, nothing before its predecessor
/// is read any more.
void check_residents(const VirtualMachine& machine, const std::vector<std::int64_t>& sizes) {
  const auto groups = groups_of(sizes);
  for (const auto& load : machine.spans()) {
    if (load.stage != Stage::group_read && load.stage != Stage::group_prepare) {
      continue;
    }
    for (const auto& reader : machine.spans()) {
      const bool reads = reader.stage == Stage::cpu_batch || reader.stage == Stage::device_batch ||
                         (reader.stage == Stage::train && load.stage == Stage::group_prepare);
      if (reads && groups[static_cast<std::size_t>(machine.assigned(reader.batch).index)] < load.batch - 1) {
        EXPECT_LE(reader.end_s, load.begin_s) << "macro-batch " << load.batch;
      }
    }
  }
}

TEST(MacroBatches, EveryPassIsWholeAndTwoAreInMemoryAtMost) {
  const test::RandomSeed seed(20261125);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> time(0.1, 10);
  for (int round = 0; round < 400; ++round) {
    const auto route = round % 2 == 0 ? Route::cpu : Route::device;
    auto plan = macro_batch_plan(route, 16, 1);
    plan.workers = 1 + static_cast<int>(random() % 4);
    plan.cpu_buffer = 1 + static_cast<int>(random() % 3);
    plan.macro.passes = 1 + static_cast<int>(random() % 4);
    plan.order = round % 4 < 2 ? plan::Order::index : plan::Order::as_ready;
    std::vector<std::int64_t> sizes(1 + random() % 6);
    std::generate(sizes.begin(), sizes.end(), [&] { return 1 + static_cast<std::int64_t>(random() % 9); });
    const double load = 5 * time(random);
    VirtualMachine machine(plan.workers, [&](Stage stage, std::int64_t) {
      return stage == Stage::group_read || stage == Stage::group_prepare ? load : time(random);
    });
    machine.take_group_sizes(sizes);
    SCOPED_TRACE("round " + std::to_string(round));
    const auto log = run_epoch(plan, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), machine);
    check_passes(plan, log, sizes, machine);
    check_residents(machine, sizes);
  }
}

}  // namespace
}  // namespace gnomon::schedule
