#include <gtest/gtest.h>

#include "schedule/run_epoch.h"
#include "sim/simulator.h"
#include "tests/random_seed.h"
#include "tests/sim/random_cases.h"

namespace gnomon::sim {
namespace {

TEST(SimulatedMachine, AgreesWithAPlainEventQueueForEveryPolicy) {
  const test::RandomSeed seed(20250117);
  std::mt19937_64 random(seed);
  Simulator simulator;
  for (int round = 0; round < 100; ++round) {
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 80);
    MachineModel model = test::random_model(random, batches, 0.3);
    for (const plan::Plan& plan : test::random_plans(random, model.workers)) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + plan.name);
      test::VirtualMachine machine(model.workers, [&](schedule::Stage stage, std::int64_t batch) {
        return test::duration_of(model.costs_of(batch), stage);
      });
      schedule::TracedMachine informed(machine, test::usual_times(model.costs));
      const auto log = schedule::run_epoch(plan, batches, informed);
      const auto prediction = simulator.run(plan, model, batches, true);
      EXPECT_NEAR(prediction.epoch_s, log.seconds(), 1e-9 * log.seconds());
      EXPECT_EQ(prediction.cpu_batches, log.cpu_batches);
    }
  }
}

}  // namespace
}  // namespace gnomon::sim
