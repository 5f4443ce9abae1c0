#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "schedule/machine.h"
#include "tests/random_seed.h"

/// What schedule/machine.h promises, as tests that every implementation passes:
///
///     struct World {
///       // Calls `body` with a fresh machine whose stages take stage_s(stage, batch) seconds each.
///       static void run(int workers, const StageSeconds& stage_s, const MachineBody& body);
///       static constexpr int num_stages;  // how many of Stage it has, the first ones
///     };
///     INSTANTIATE_TYPED_TEST_SUITE_P(World, MachineContract, World);
namespace gnomon::schedule {

using StageSeconds = std::function<double(Stage stage, std::int64_t batch)>;
using MachineBody = std::function<void(Machine& machine)>;

/// A stage as it was started.
struct StartedStage {
  Stage stage = Stage::cpu_batch;
  std::int64_t batch = 0;
  std::vector<Ticket> after;
};

inline bool same_engine(Stage a, Stage b) {
  const auto engine = [](Stage stage) {
    switch (stage) {
      case Stage::device_batch:
      case Stage::device_gather:
        return Stage::train;
      case Stage::group_transfer:
        return Stage::transfer;
      case Stage::group_prepare:
        return Stage::cpu_batch;
      default:
        return stage;
    }
  };
  return engine(a) == engine(b);
}

/// Stages of random kinds, each after up to three random earlier ones.
inline std::vector<StartedStage> random_stages(std::mt19937_64& random, std::int64_t count, int kinds) {
  std::vector<StartedStage> stages;
  for (std::int64_t i = 0; i < count; ++i) {
    auto& started = stages.emplace_back();
    started.stage = static_cast<Stage>(random() % static_cast<unsigned>(kinds));
    started.batch = i;
    for (auto after = i == 0 ? 0 : random() % 4; after > 0; --after) {
      started.after.push_back({static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(i))});
    }
  }
  return stages;
}

inline void wait_for_all(Machine& machine, std::vector<Ticket> tickets) {
  while (!tickets.empty()) {
    machine.wait_any(tickets);
    const auto left =
        std::remove_if(tickets.begin(), tickets.end(), [&](Ticket ticket) { return machine.done(ticket); });
    ASSERT_NE(left, tickets.end()) << "wait_any returned though nothing was done";
    tickets.erase(left, tickets.end());
  }
}

/// Times are compared with a slack for the rounding of simulated clocks.
inline constexpr double clock_slack_s = 1e-9;

inline void expect_contract(const std::vector<StartedStage>& stages, const std::vector<StageSpan>& spans,
                            int workers, const StageSeconds& stage_s) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    SCOPED_TRACE("ticket " + std::to_string(i));
    EXPECT_EQ(spans[i].stage, stages[i].stage);
    EXPECT_EQ(spans[i].batch, stages[i].batch);
    EXPECT_GE(spans[i].end_s - spans[i].begin_s,
              stage_s(stages[i].stage, stages[i].batch) * (1 - 1e-6) - clock_slack_s);
    EXPECT_GE(spans[i].worker, 0);
    EXPECT_LT(spans[i].worker, same_engine(stages[i].stage, Stage::cpu_batch) ? workers : 1);
    for (const auto before : stages[i].after) {
      EXPECT_GE(spans[i].begin_s, spans[static_cast<std::size_t>(before.number)].end_s - clock_slack_s);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_engine(stages[i].stage, stages[j].stage) || spans[i].worker != spans[j].worker) {
        continue;
      }
      EXPECT_GE(spans[i].begin_s, spans[j].end_s - clock_slack_s) << "overtook or overlapped ticket " << j;
    }
  }
}

template <class World>
class MachineContract : public testing::Test {};

TYPED_TEST_SUITE_P(MachineContract);

TYPED_TEST_P(MachineContract, RandomStagesKeepLaneOrderAndDependencies) {
  const test::RandomSeed seed(20240611);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int workers = 1 + static_cast<int>(random() % 4);
    const auto stages = random_stages(random, 60, TypeParam::num_stages);
    std::vector<double> seconds(stages.size());
    for (auto& each : seconds) {
      each = static_cast<double>(random() % 8) * 1e-4;
    }
    const StageSeconds stage_s = [&](Stage, std::int64_t batch) {
      return seconds[static_cast<std::size_t>(batch)];
    };
    TypeParam::run(workers, stage_s, [&](Machine& machine) {
      std::vector<Ticket> tickets;
      for (const auto& started : stages) {
        tickets.push_back(machine.start(started.stage, started.batch, started.after));
        EXPECT_EQ(tickets.back().number, static_cast<std::int64_t>(tickets.size()) - 1);
        if (random() % 5 == 0) {
          machine.wait_any(tickets);
        }
      }
      wait_for_all(machine, tickets);
      std::vector<StageSpan> spans;
      for (const auto ticket : tickets) {
        spans.push_back(machine.span(ticket));
        EXPECT_LE(spans.back().end_s, machine.now_s() + clock_slack_s);
      }
      expect_contract(stages, spans, workers, stage_s);
    });
  }
}

TYPED_TEST_P(MachineContract, StartDoesNotBlockAndWaitAnyDoes) {
  TypeParam::run(
      1, [](Stage, std::int64_t) { return 0.25; },
      [](Machine& machine) {
        const auto begin_s = machine.now_s();
        const auto first = machine.start(Stage::cpu_batch, 0, {});
        const auto second = machine.start(Stage::train, 0, std::vector{first});
        EXPECT_FALSE(machine.done(second));
        machine.wait_any(std::vector{second});
        EXPECT_TRUE(machine.done(first));
        EXPECT_TRUE(machine.done(second));
        EXPECT_GE(machine.now_s() - begin_s, 0.5 - clock_slack_s);
        machine.wait_any(std::vector{second, first});  // at once
      });
}

TYPED_TEST_P(MachineContract, WaitAnyReturnsWithTheFirstOfSeveral) {
  TypeParam::run(
      1, [](Stage stage, std::int64_t) { return stage == Stage::train ? 0.001 : 0.4; },
      [](Machine& machine) {
        const auto slow = machine.start(Stage::cpu_batch, 0, {});
        const auto quick = machine.start(Stage::train, 1, {});
        machine.wait_any(std::vector{slow, quick});
        EXPECT_TRUE(machine.done(quick));
        EXPECT_FALSE(machine.done(slow));
        machine.wait_any(std::vector{slow});
      });
}

TYPED_TEST_P(MachineContract, EnginesRunConcurrently) {
  TypeParam::run(
      2, [](Stage, std::int64_t) { return 0.25; },
      [](Machine& machine) {
        const std::vector<Ticket> tickets = {
            machine.start(Stage::cpu_batch, 0, {}), machine.start(Stage::cpu_batch, 1, {}),
            machine.start(Stage::transfer, 2, {}), machine.start(Stage::device_batch, 3, {})};
        wait_for_all(machine, tickets);
        for (const auto a : tickets) {
          for (const auto b : tickets) {
            EXPECT_LT(machine.span(a).begin_s, machine.span(b).end_s);
          }
        }
      });
}

REGISTER_TYPED_TEST_SUITE_P(MachineContract, RandomStagesKeepLaneOrderAndDependencies,
                            StartDoesNotBlockAndWaitAnyDoes, WaitAnyReturnsWithTheFirstOfSeveral,
                            EnginesRunConcurrently);

}  // namespace gnomon::schedule
