#pragma once

#include "plan/plan.h"

namespace gnomon::test {

/// A plan with macro-batches of `resident` of `partitions` parts, one worker and updates in index order: read
/// from the disk with route cpu, prepared by the worker with route device.
inline plan::Plan macro_batch_plan(plan::Route route, int partitions, int resident) {
  plan::Plan plan;
  plan.schedule = plan::Schedule::macro_batch;
  plan.route = route;
  plan.exact = false;
  plan.workers = 1;
  plan.topology = plan.features = route == plan::Route::cpu ? plan::Home::disk : plan::Home::host;
  plan.macro.partitions = partitions;
  plan.macro.resident = resident;
  return plan;
}

}  // namespace gnomon::test
