#include "sim/simulator.h"
#include "tests/machine_contract.h"

namespace gnomon::schedule {
namespace {

sim::MachineModel model_of(int workers, const StageSeconds& stage_s) {
  sim::MachineModel model;
  model.cores = model.workers = workers;
  model.costs_of = [stage_s, workers](std::int64_t batch) {
    return sim::StageCosts{.cpu_batch_s = stage_s(Stage::cpu_batch, batch),
                           .transfer_s = stage_s(Stage::transfer, batch),
                           .device_batch_s = stage_s(Stage::device_batch, batch),
                           .device_batch_link_s = 0,
                           .train_s = stage_s(Stage::train, batch),
                           .device_gather_s = stage_s(Stage::device_gather, batch),
                           .all_reduce_s = stage_s(Stage::all_reduce, batch),
                           .group_read_s = stage_s(Stage::group_read, batch),
                           .group_prepare_s = workers * stage_s(Stage::group_prepare, batch),
                           .group_transfer_s = stage_s(Stage::group_transfer, batch)};
  };
  return model;
}

struct SimulatedWorld {
  static constexpr int num_stages = schedule::num_stages;
  static void run(int workers, const StageSeconds& stage_s, const MachineBody& body) {
    sim::Simulator().with_machine(model_of(workers, stage_s), 100, body);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, MachineContract, SimulatedWorld);

/// One core too few: every stage is a SimGrid execution and may take longer.
struct SimulatedWorldOnSharedCores {
  static constexpr int num_stages = schedule::num_stages;
  static void run(int workers, const StageSeconds& stage_s, const MachineBody& body) {
    auto model = model_of(workers, stage_s);
    model.host_device = true;
    model.cores = workers + 1;
    model.device_threads = 1;
    sim::Simulator().with_machine(model, 100, body);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(SimulatedHost, MachineContract, SimulatedWorldOnSharedCores);

}  // namespace
}  // namespace gnomon::schedule
