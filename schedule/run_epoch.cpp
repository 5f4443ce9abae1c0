#include "schedule/run_epoch.h"

#include <algorithm>

#include "schedule/policies/data_parallel.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

EpochLog run_schedule(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  switch (plan.schedule) {
    case plan::Schedule::sequential:
      return run_sequential(plan, batches, machine);
    case plan::Schedule::macro_batch:
    case plan::Schedule::pipelined:
      return plan.route == plan::Route::cpu ? run_pipelined(plan, batches, machine)
                                            : run_on_device(plan, batches, machine);
    case plan::Schedule::dual_buffer:
      return run_dual_buffer(plan, batches, machine);
    case plan::Schedule::claim_ahead:
      return run_claim_ahead(plan, batches, machine);
    case plan::Schedule::mixed:
      return run_mixed(plan, batches, machine);
    case plan::Schedule::factored:
      return run_factored(plan, batches, machine);
    case plan::Schedule::super_batch:
      break;
  }
  return run_super_batch(plan, batches, machine);
}

}  // namespace

int first_trainer(const plan::Plan& plan) {
  const bool divides = plan.schedule == plan::Schedule::factored && plan.devices > 1;
  return divides ? std::max(1, plan.samplers) : 0;
}

bool averages_gradients(const plan::Plan& plan) {
  const bool switches = first_trainer(plan) > 0 && plan.switch_roles;
  return plan.devices - first_trainer(plan) > 1 || switches;
}

EpochLog run_epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  const bool in_steps = plan.devices > 1 && plan.schedule != plan::Schedule::factored;
  return in_steps ? run_data_parallel(plan, batches, machine, run_schedule)
                  : run_schedule(plan, batches, machine);
}

}  // namespace gnomon::schedule
