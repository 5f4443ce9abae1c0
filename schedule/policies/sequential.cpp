#include "schedule/epoch.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// Prepares, copies and trains one batch at a time.
EpochLog run_on_cpu(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    epoch.claim_for_worker(batch);
    while (!epoch.workers_idle()) {
      epoch.wait({}, {.on_cpu = true});
      epoch.collect_workers();
    }
    const Ticket copied = epoch.copy(batch);
    const Ticket trained = epoch.train(batch, {epoch.gather_after(batch, copied)});
    epoch.wait({trained}, {});
    epoch.collect_copies();
  }
  return epoch.finish();
}

}  // namespace

EpochLog run_sequential(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return plan.route == plan::Route::cpu ? run_on_cpu(plan, batches, machine)
                                        : run_on_device(plan, batches, machine);
}

}  // namespace gnomon::schedule
