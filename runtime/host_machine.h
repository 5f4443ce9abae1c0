#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::runtime {

/// The work of each stage. cpu_batch is called on the worker threads (worker 0 … workers-1), several at once;
/// the others on the threads of the device and of the copy engine, one call of each engine at a time. An
/// exception ends the epoch: wait_any() rethrows it.
struct StageWork {
  std::function<void(std::int64_t position, int worker)> cpu_batch;
  std::function<void(std::int64_t position)> transfer;
  std::function<void(std::int64_t position)> device_batch;
  std::function<void(std::int64_t position)> train;
  std::function<void(std::int64_t position)> device_gather = {};
};

/// The real Machine: worker threads, a thread for copies, and a thread for the device's stages, which does
/// their work on a host device and waits for the work of any other; with a thread of its own for device_batch
/// and device_gather if the device prepares beside training. The threads live as long as the machine. Each
/// run of a policy needs a new machine or begin_run(). The destructor drops stages that have not begun, waits
/// for those that have, and never throws.
class HostMachine final : public schedule::Machine {
 public:
  /// Pins worker i to core worker_cores[i mod their number]; no pinning if the list is empty. Throws
  /// base::Failure if threads cannot be started or pinned.
  HostMachine(int workers, StageWork work, const std::vector<int>& worker_cores = {},
              bool prepares_beside_training = false);
  ~HostMachine() override;

  /// Begins another run on the same threads, whose memory is warm: forgets all stages and sets the clock to
  /// 0. Precondition: all stages are done, none has failed, and the machine was not interrupted.
  void begin_run();

  /// Throws base::InputError for stages of several devices or of groups, and for any device but the first.
  schedule::Ticket start_on(int device, schedule::Stage stage, std::int64_t position,
                            std::span<const schedule::Ticket> after) override;
  bool done(schedule::Ticket ticket) override;
  void wait_any(std::span<const schedule::Ticket> tickets) override;
  double now_s() override;
  schedule::StageSpan span(schedule::Ticket ticket) override;

  /// Makes wait_any throw base::Interrupted soon. Thread-safe, but not to be called by a signal handler.
  void interrupt();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::runtime
