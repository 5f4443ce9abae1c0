#include "reproduce/stages.h"

namespace gnomon::reproduce {

double simulate_stages(sim::Simulator& simulator, plan::Schedule schedule, const sim::StageCosts& costs,
                       std::int64_t batches) {
  plan::Plan plan;
  plan.name = "stages";
  plan.schedule = schedule;
  plan.route = plan::Route::cpu;
  plan.workers = 1;
  sim::MachineModel model;
  model.cores = 1;
  model.workers = 1;
  model.costs = costs;
  return simulator.run(plan, model, batches, false).epoch_s;
}

}  // namespace gnomon::reproduce
