#include "schedule/epoch.h"

namespace gnomon::schedule {
namespace {

/// One batch at a time: prepared, copied, trained.
EpochLog run_on_cpu(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    epoch.claim_for_worker(batch);
    while (!epoch.workers_idle()) {
      epoch.wait({}, {.on_cpu = true});
      epoch.collect_workers();
    }
    const Ticket copied = epoch.copy(batch);
    const Ticket trained = epoch.train(batch, {copied});
    epoch.wait({trained}, {});
    epoch.collect_copies();
  }
  return epoch.finish();
}

/// The device's lane keeps its stages apart. One batch is queued ahead of it, so that the device never waits
/// to be told what is next.
EpochLog run_on_device(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  Ticket previous;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    epoch.start(Stage::device_batch, batch);
    const Ticket trained = epoch.train(batch);
    if (batch > 0) {
      epoch.wait({previous}, {});
    }
    previous = trained;
  }
  if (batches > 0) {
    epoch.wait({previous}, {});
  }
  return epoch.finish();
}

}  // namespace

EpochLog run_sequential(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return plan.route == plan::Route::cpu ? run_on_cpu(plan, batches, machine)
                                        : run_on_device(plan, batches, machine);
}

}  // namespace gnomon::schedule
