#include <algorithm>

#include "schedule/epoch.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {

/// NeutronOrch's super-batches (PVLDB 17(8), section 4): the device prepares n = plan.super_batch batches and
/// then trains them. Meanwhile the CPU recomputes the hot vertices' embeddings for the next super-batch, if
/// the plan reuses them, with the weights at its begin. An embedding is therefore at most 2n - 1 updates
/// stale when it is used.
EpochLog run_super_batch(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  const std::int64_t length = plan.super_batch;
  const bool refreshes = plan.embeddings.reuse == plan::Reuse::hot;
  Ticket refreshed;
  if (refreshes && batches > 0) {
    refreshed = epoch.start_group(0);
  }
  Ticket last_prepared;
  Ticket last_trained;
  for (std::int64_t first = 0; first < batches; first += length) {
    const std::int64_t end = std::min(batches, first + length);
    for (std::int64_t batch = first; batch < end; ++batch) {
      last_prepared = epoch.start(Stage::device_batch, batch);
    }
    // The compute engine runs in order: the previous super-batch has been trained by then, too.
    epoch.wait_for(last_prepared, {});
    if (refreshes) {
      epoch.wait_for(refreshed, {.on_cpu = true});
    }
    if (refreshes && end < batches) {
      refreshed = epoch.start_group(first / length + 1);
    }
    for (std::int64_t batch = first; batch < end; ++batch) {
      last_trained = epoch.train(batch);
    }
  }
  if (batches > 0) {
    epoch.wait_for(last_trained, {});
  }
  return epoch.finish();
}

}  // namespace gnomon::schedule
