#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gnomon::schedule {

/// A stage of the mini-batch pipeline.
enum class Stage : std::uint8_t {
  cpu_batch,       ///< a CPU worker samples a batch and gathers its features into a host slot
  transfer,        ///< the copy engine copies a prepared batch from its host slot to a device slot
  device_batch,    ///< the device samples and gathers, reading host memory
  train,           ///< forward pass, backward pass and update on the device
  device_gather,   ///< the device gathers the features of a batch whose sample it holds
  all_reduce,      ///< all devices average their gradients
  group_read,      ///< the disk reads what a group of batches (a macro-batch) needs
  group_prepare,   ///< a CPU worker does its share of the CPU's work for a group
  group_transfer,  ///< the copy engine copies what a group needs to the device
};
inline constexpr int num_stages = 9;
/// The number of stages, the first of the list, that work on single batches and a single device. Every
/// machine has them.
inline constexpr int num_basic_stages = 4;
constexpr std::string_view name_of(Stage stage) {
  constexpr std::string_view names[] = {"cpu_batch",  "transfer",      "device_batch",
                                        "train",      "device_gather", "all_reduce",
                                        "group_read", "group_prepare", "group_transfer"};
  return names[static_cast<int>(stage)];
}

/// Whether a stage works on a single batch, rather than on a group of batches or a step of several devices.
constexpr bool is_of_batch(Stage stage) {
  return static_cast<int>(stage) < num_basic_stages || stage == Stage::device_gather;
}

/// The duration of each stage in seconds; 0 if unknown.
using StageTimes = std::array<double, num_stages>;

/// Identifies a started stage. Tickets are numbered from 0 in the order of the starts.
struct Ticket {
  std::int64_t number = -1;
  bool operator==(const Ticket&) const = default;
};

/// When and where a stage ran, in seconds since the machine's epoch began.
struct StageSpan {
  Stage stage = Stage::cpu_batch;
  std::int64_t batch = 0;  ///< its position, until a trainer writes the batch of the epoch; or the group
  int worker = 0;          ///< of a cpu_batch or group_prepare; 0 otherwise
  double begin_s = 0;
  double end_s = 0;
  int device = 0;

  double seconds() const { return end_s - begin_s; }
};

/// Executes the stages that a policy starts. Both the simulated machine and the real one implement it.
///
/// Stages run on *engines*: cpu_batch and group_prepare on any of the CPU workers; transfer and
/// group_transfer on the device's copy engine; device_batch, device_gather and train on the device's compute
/// engine (the first two on an engine of their own if the machine prepares batches beside training);
/// group_read on the disk; all_reduce on the interconnect. An engine runs its stages one at a time, in the
/// order in which they were started; the workers share one queue. A stage begins when its engine has reached
/// it and all stages in `after` are done. Until then it blocks the stages behind it, as in a CUDA stream.
///
/// The machine is responsible for the data that a stage reads and writes. The policy is responsible for
/// preparing a batch before it is copied or trained, and for the number of batches in flight.
///
/// Not thread-safe: one thread makes all calls. Only wait_any() blocks; it throws base::Interrupted if the
/// user asked to stop, and rethrows the first exception of a stage.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  /// Queues `stage` on the first device, for the batch or group at `position` 0 … n-1 of the list that is
  /// trained. Only the owner of the list knows which batch of the epoch that is: the list may be the rest of
  /// an epoch or a replay. Precondition: the tickets in `after` are this machine's.
  Ticket start(Stage stage, std::int64_t position, std::span<const Ticket> after) {
    return start_on(0, stage, position, after);
  }
  /// Queues `stage` on a device, for the batch or group at `position`. Throws InputError if the machine lacks
  /// the device or the stage.
  virtual Ticket start_on(int device, Stage stage, std::int64_t position, std::span<const Ticket> after) = 0;
  virtual bool done(Ticket ticket) = 0;
  /// Blocks until at least one of `tickets` is done. Precondition: `tickets` is not empty.
  virtual void wait_any(std::span<const Ticket> tickets) = 0;
  virtual double now_s() = 0;
  /// Returns where and when a stage ran. Precondition: done(ticket).
  virtual StageSpan span(Ticket ticket) = 0;
  /// The expected duration of a stage in seconds, known before the epoch; 0 if unknown.
  virtual double expected_s(Stage) const { return 0; }

  /// With macro-batches: the number of the list's batches that each macro-batch has, in their order. Empty if
  /// unknown: then all have an equal share.
  virtual std::vector<std::int64_t> group_sizes() const { return {}; }
  /// With macro-batches: says, before the first stage of `position`, that it trains the vertices of the
  /// list's batch number `index` in pass `pass` (from 0) over its macro-batch. Positions for which this is
  /// not called train the batch of their own number in pass 0.
  virtual void assign(std::int64_t position, std::int64_t index, int pass) {
    static_cast<void>(position);
    static_cast<void>(index);
    static_cast<void>(pass);
  }
};

}  // namespace gnomon::schedule
