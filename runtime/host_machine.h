#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/batch/device_work.h"
#include "schedule/machine.h"

namespace gnomon::runtime {

/// The work of each stage. cpu_batch is called on the worker threads (worker 0 … workers-1), several at once;
/// the others on the threads of the device and of its copy engine, one call of each engine at a
/// time. An exception ends the epoch: wait_any() rethrows it.
struct StageWork {
  std::function<void(std::int64_t position, int worker)> cpu_batch;
  std::function<void(std::int64_t position, int device)> transfer;
  std::function<void(std::int64_t position, int device)> device_batch;
  std::function<void(std::int64_t position, int device)> train;
  std::function<void(std::int64_t position, int device)> device_gather = {};
  /// Averages the gradients of step `step`'s mini-batches and updates the weights; only with several devices.
  std::function<void(std::int64_t step)> all_reduce = {};
  /// A worker's share of the host's work for a group of mini-batches, and the transfer of the result on the
  /// device's copy engine; without them the machine refuses these stages.
  std::function<void(std::int64_t group, int worker)> group_prepare = {};
  std::function<void(std::int64_t group)> group_transfer = {};
  /// Reads what a macro-batch needs from the disk, on a thread of its own; a machine without it refuses the
  /// stage.
  std::function<void(std::int64_t group)> group_read = {};
  /// Machine::group_sizes and Machine::assign, on the thread of the policy; empty without macro-batches.
  std::function<std::vector<std::int64_t>()> group_sizes = {};
  std::function<void(std::int64_t position, std::int64_t index, int pass)> assign = {};
  /// Hook that runs on a stage's thread after the stage and before its dependents; not part of its span.
  std::function<void(schedule::Stage stage, int device)> after = {};
  /// Returns the device work that is unfinished when the call of its stage has returned, or null; called on
  /// the same thread. The stage ends with that work and has its span. Stages of the same engine may begin
  /// earlier, since a device executes its work in order, and so may later stages of the mini-batch where
  /// DeviceWork::orders_successors().
  std::function<DeviceWorkPtr(schedule::Stage stage, std::int64_t position)> left_to_device = {};
};

/// The real Machine. It has worker threads and, for each device, a thread for copies and a thread for the
/// device's stages, which executes them on the host's cores or launches them on a GPU, at most two stages
/// ahead. If devices prepare beside training, device_batch and device_gather have a separate thread; with
/// several devices, so has all_reduce. The threads live as long as the machine. Each run of a policy needs a
/// new machine or begin_run(). The destructor drops stages that have not begun, waits for running ones, and
/// never throws.
class HostMachine final : public schedule::Machine {
 public:
  /// Pins worker i to core worker_cores[i mod their number]; no pinning if the list is empty. Throws
  /// base::Failure if threads cannot be started or pinned.
  HostMachine(int workers, StageWork work, const std::vector<int>& worker_cores = {},
              bool prepares_beside_training = false, int devices = 1);
  ~HostMachine() override;

  /// Begins another run on the same threads, whose memory is warm: forgets all stages and sets the clock to
  /// 0. Precondition: all stages are done, none has failed, and the machine was not interrupted.
  void begin_run();

  /// Throws base::InputError for stages without work, for unknown devices, and for all_reduce with one
  /// device.
  schedule::Ticket start_on(int device, schedule::Stage stage, std::int64_t position,
                            std::span<const schedule::Ticket> after) override;
  bool done(schedule::Ticket ticket) override;
  void wait_any(std::span<const schedule::Ticket> tickets) override;
  double now_s() override;
  schedule::StageSpan span(schedule::Ticket ticket) override;
  std::vector<std::int64_t> group_sizes() const override;
  void assign(std::int64_t position, std::int64_t index, int pass) override;

  /// Makes wait_any throw base::Interrupted soon. Thread-safe, but not async-signal-safe.
  void interrupt();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::runtime
