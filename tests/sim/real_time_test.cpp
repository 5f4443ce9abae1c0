#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "runtime/host_machine.h"
#include "schedule/run_epoch.h"
#include "sim/simulator.h"
#include "tests/random_seed.h"
#include "tests/sim/random_cases.h"

// The only tests here that depend on the machine's clock (ctest -E RealTime leaves them out).

namespace gnomon::sim {
namespace {

using schedule::Machine;
using schedule::Stage;
using schedule::StageSpan;
using schedule::Ticket;

constexpr int workers = 2;
constexpr std::int64_t batches = 7;
/// Stages end at least this long after each other, so decisions do not depend on less.
constexpr double gap_s = 0.008;

/// A start as the policy asked for it, and when.
struct Start {
  Stage stage = Stage::cpu_batch;
  std::int64_t batch = 0;
  double at_s = 0;
  bool operator==(const Start& other) const { return stage == other.stage && batch == other.batch; }
};

class Recorder final : public Machine {
 public:
  explicit Recorder(Machine& machine) : machine_(machine), begin_s_(machine.now_s()) {}
  Ticket start_on(int device, Stage stage, std::int64_t batch, std::span<const Ticket> after) override {
    starts.push_back({stage, batch, machine_.now_s() - begin_s_});
    return machine_.start_on(device, stage, batch, after);
  }
  bool done(Ticket ticket) override { return machine_.done(ticket); }
  void wait_any(std::span<const Ticket> tickets) override { machine_.wait_any(tickets); }
  double now_s() override { return machine_.now_s(); }
  StageSpan span(Ticket ticket) override { return machine_.span(ticket); }

  std::vector<Start> starts;

 private:
  Machine& machine_;
  double begin_s_;
};

std::vector<Start> simulated(const plan::Plan& plan, const MachineModel& model) {
  std::vector<Start> starts;
  Simulator().with_machine(model, batches, [&](Machine& machine) {
    Recorder recorder(machine);
    schedule::run_epoch(plan, batches, recorder);
    starts = recorder.starts;
  });
  return starts;
}

/// Every duration `factor` times as long.
MachineModel stretched(const MachineModel& model, double factor) {
  MachineModel slower = model;
  slower.costs_of = [costs_of = model.costs_of, factor](std::int64_t batch) {
    StageCosts costs = costs_of(batch);
    for (double* seconds : {&costs.cpu_batch_s, &costs.transfer_s, &costs.device_batch_s, &costs.train_s}) {
      *seconds *= factor;
    }
    return costs;
  };
  return slower;
}

std::vector<Start> real(const plan::Plan& plan, const MachineModel& model) {
  const auto sleep = [&](Stage stage, std::int64_t batch) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(test::duration_of(model.costs_of(batch), stage)));
  };
  runtime::HostMachine machine(workers, {[&](std::int64_t batch, int) { sleep(Stage::cpu_batch, batch); },
                                         [&](std::int64_t batch, int) { sleep(Stage::transfer, batch); },
                                         [&](std::int64_t batch, int) { sleep(Stage::device_batch, batch); },
                                         [&](std::int64_t batch, int) { sleep(Stage::train, batch); }});
  Recorder recorder(machine);
  schedule::run_epoch(plan, batches, recorder);
  return recorder.starts;
}

/// Durations of 20 to 160 ms.
MachineModel draw_model(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<StageCosts> costs(batches);
  for (StageCosts& each : costs) {
    each = {.cpu_batch_s = 0.08 + 0.08 * uniform(random),
            .transfer_s = 0.02 + 0.01 * uniform(random),
            .device_batch_s = 0.04 + 0.03 * uniform(random),
            .device_batch_link_s = 0,
            .train_s = 0.03 + 0.03 * uniform(random)};
  }
  MachineModel model{.cores = workers, .workers = workers};
  model.costs_of = [costs](std::int64_t batch) { return costs[static_cast<std::size_t>(batch)]; };
  return model;
}

bool ends_are_apart(const plan::Plan& plan, const MachineModel& model) {
  const auto timeline = Simulator().run(plan, model, batches, true).timeline;
  std::vector<double> ends_s;
  for (const StageSpan& span : timeline) {
    ends_s.push_back(span.end_s);
  }
  std::sort(ends_s.begin(), ends_s.end());
  for (std::size_t i = 1; i < ends_s.size(); ++i) {
    if (ends_s[i] - ends_s[i - 1] < gap_s) {
      return false;
    }
  }
  return true;
}

/// The first of many draws in which the stages' ends lie apart.
std::optional<MachineModel> find_model(const plan::Plan& plan, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 200000; ++draw) {
    MachineModel model = draw_model(random);
    if (ends_are_apart(plan, model)) {
      return model;
    }
  }
  return std::nullopt;
}

/// How late the real run was with what both started, up to and with their first difference.
double lateness_s(const std::vector<Start>& expected, const std::vector<Start>& found) {
  double worst_s = 0;
  for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
    worst_s = std::max(worst_s, std::abs(found[i].at_s - expected[i].at_s));
    if (!(expected[i] == found[i])) {
      break;
    }
  }
  return worst_s;
}

std::string text(const std::vector<Start>& starts) {
  std::string text;
  for (const Start& start : starts) {
    text += std::string(name_of(start.stage)) + " " + std::to_string(start.batch) + " at " +
            std::to_string(start.at_s) + "\n";
  }
  return text;
}

/// A run may differ only if this machine was so late that stages may have changed places; then it runs again,
/// with every other attempt in slow motion by twice the factor, so that the same lateness is half of the gap
/// that it was. A policy that really behaves differently differs each time.
void expect_same_starts(const plan::Plan& plan) {
  const test::RandomSeed seed(2718);
  const auto model = find_model(plan, seed);
  ASSERT_TRUE(model.has_value()) << "no draw keeps the stages' ends apart";
  std::vector<Start> expected;
  std::vector<Start> found;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const double factor = std::exp2(attempt / 2);
    const auto slower = stretched(*model, factor);
    expected = simulated(plan, slower);
    ASSERT_GE(expected.size(), 2U * batches);
    found = real(plan, slower);
    if (found == expected) {
      return;
    }
    ASSERT_GE(lateness_s(expected, found), factor * gap_s / 2) << "simulated:\n"
                                                               << text(expected) << "real, though in time:\n"
                                                               << text(found);
  }
  FAIL() << "simulated:\n" << text(expected) << "real, at the last of eight attempts:\n" << text(found);
}

plan::Plan plan_of(const char* preset) {
  plan::Plan plan = plan::find_plan(preset);
  plan.workers = workers;
  plan.device_threads = 1;
  return plan;
}

TEST(RealTime, PipelinedStartsTheSameStages) { expect_same_starts(plan_of("salient")); }

TEST(RealTime, PipelinedInOrderStartsTheSameStages) { expect_same_starts(plan_of("pyg")); }

TEST(RealTime, ClaimAheadStartsTheSameStages) { expect_same_starts(plan_of("gnomon")); }

TEST(RealTime, DualBufferStartsTheSameStages) {
  plan::Plan plan = plan_of("morphgl");
  plan.cpu_buffer = 1;
  plan.device_buffer = 2;
  expect_same_starts(plan);
}

TEST(RealTime, SequentialStartsTheSameStages) {
  plan::Plan plan = plan_of("device");
  plan.workers = 0;
  expect_same_starts(plan);
  plan.route = plan::Route::cpu;
  plan.workers = 1;
  expect_same_starts(plan);
}

}  // namespace
}  // namespace gnomon::sim
