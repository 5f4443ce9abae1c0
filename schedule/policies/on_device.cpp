#include "schedule/epoch.h"
#include "schedule/policies/partition_buffer.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {

/// The device prepares every batch itself. If preparing and training share the compute engine, one batch is
/// queued ahead so that the engine never idles between batches. If batches are prepared beside training, up
/// to plan.device_buffer batches are prepared ahead (PyTorch-Direct's ping-pong buffer is a buffer of one).
EpochLog run_on_device(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  PartitionBuffer partitions(epoch);
  const auto max_ahead = static_cast<std::size_t>(plan.prepares_beside_training() ? plan.device_buffer : 1);
  std::deque<Ticket> training;
  const auto wait_for_first = [&] {
    epoch.wait_for(training.front(), {});
    training.pop_front();
  };
  Ticket last;
  // Stages of the device end in their order.
  const auto readers = [&] { return training.empty() ? std::vector<Ticket>() : std::vector{last}; };
  while (!partitions.finished()) {
    while (!partitions.admit(readers)) {
      // The device first runs what is queued and idles only if the load takes longer than that.
      epoch.wait({partitions.next_load()}, {.on_cpu = training.empty() || epoch.done(training.back())});
    }
    const std::int64_t batch = partitions.admitted() - 1;
    const Ticket prepared = epoch.start(Stage::device_batch, batch);
    training.push_back(epoch.train(batch, {prepared}));
    last = training.back();
    if (training.size() > max_ahead) {
      wait_for_first();
    }
  }
  while (!training.empty()) {
    wait_for_first();
  }
  return epoch.finish();
}

}  // namespace gnomon::schedule
