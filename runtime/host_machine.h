#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::runtime {

/// What each stage does. cpu_batch is called on the worker threads (worker 0 … workers-1), several at once;
/// the others on the device and copy threads, one call of each engine at a time. A throw ends the epoch:
/// wait_any rethrows it.
struct StageWork {
  std::function<void(std::int64_t position, int worker)> cpu_batch;
  std::function<void(std::int64_t position)> transfer;
  std::function<void(std::int64_t position)> device_batch;
  std::function<void(std::int64_t position)> train;
  std::function<void(std::int64_t position)> device_gather = {};
};

/// The real Machine: worker threads, one copy thread and one device thread, which either do the device's work
/// or wait for a GPU that does it; and a thread for device_batch and device_gather where the device prepares
/// beside training.
/// The threads live as long as the machine; each run of a policy wants a new or a reset machine. The
/// destructor drops what has not begun, waits for what has, and never throws.
class HostMachine final : public schedule::Machine {
 public:
  /// Worker i runs on core worker_cores[i mod their number] only; without any, where the system puts it.
  /// Throws base::Failure when threads cannot be started or pinned.
  HostMachine(int workers, StageWork work, const std::vector<int>& worker_cores = {},
              bool prepares_beside_training = false);
  ~HostMachine() override;

  /// Throws InputError for the stages of several devices and of groups, and any device but the first.
  schedule::Ticket start_on(int device, schedule::Stage stage, std::int64_t batch,
                            std::span<const schedule::Ticket> after) override;
  bool done(schedule::Ticket ticket) override;
  void wait_any(std::span<const schedule::Ticket> tickets) override;
  double now_s() override;
  schedule::StageSpan span(schedule::Ticket ticket) override;

  /// Makes wait_any throw base::Interrupted soon; safe to call from any thread (not from a signal handler).
  void interrupt();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::runtime
