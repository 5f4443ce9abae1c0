#include "schedule/epoch.h"
#include "schedule/policies/residence.h"

namespace gnomon::schedule {

/// The device prepares each batch itself. Where it takes turns its lane keeps the stages apart, and one batch
/// is queued ahead so that the device never waits to be told what is next; where it prepares beside training
/// so many batches may lie ready as its buffer holds (PyTorch-Direct's ping-pong is a buffer of one).
EpochLog run_on_device(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  Epoch epoch(plan, batches, machine);
  Residence residence(epoch);
  const auto most_ahead = static_cast<std::size_t>(plan.prepares_beside_training() ? plan.device_buffer : 1);
  std::deque<Ticket> training;
  const auto wait_for_first = [&] {
    epoch.wait_for(training.front(), {});
    training.pop_front();
  };
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    while (!residence.admits(batch)) {
      // What is queued ends meanwhile, so that the lane stands still only where the next part is late.
      epoch.wait({residence.next()}, {.on_cpu = training.empty() || epoch.done(training.back())});
    }
    const Ticket prepared = epoch.start(Stage::device_batch, batch);
    training.push_back(epoch.train(batch, {prepared}));
    if (training.size() > most_ahead) {
      wait_for_first();
    }
  }
  while (!training.empty()) {
    wait_for_first();
  }
  return epoch.finish();
}

}  // namespace gnomon::schedule
