#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gnomon::schedule {

/// One step of a mini-batch's way (systems.md §1).
enum class Stage : std::uint8_t {
  cpu_batch,       ///< a CPU worker samples and gathers into a host slot
  transfer,        ///< the copy engine copies a prepared batch from its host slot to a device slot
  device_batch,    ///< the device samples and gathers, reading host memory
  train,           ///< forward, backward, update on the device
  device_gather,   ///< the device gathers the features of a batch whose sample it holds
  all_reduce,      ///< all devices average their gradients
  group_read,      ///< the disk is read for a group of batches (a macro-batch)
  group_prepare,   ///< a CPU worker does its share of what the CPU does for a group
  group_transfer,  ///< the copy engine copies to the device what a group needs
};
inline constexpr int num_stages = 9;
/// The first ones are those of a single device and single batches, which every machine has.
inline constexpr int num_basic_stages = 4;
constexpr std::string_view name_of(Stage stage) {
  constexpr std::string_view names[] = {"cpu_batch",  "transfer",      "device_batch",
                                        "train",      "device_gather", "all_reduce",
                                        "group_read", "group_prepare", "group_transfer"};
  return names[static_cast<int>(stage)];
}

/// Seconds of each stage; 0 where it is not known.
using StageTimes = std::array<double, num_stages>;

/// Names a started stage. Tickets count up from 0 in the order of the starts.
struct Ticket {
  std::int64_t number = -1;
  bool operator==(const Ticket&) const = default;
};

/// When and where a stage ran, in seconds since the machine's epoch began.
struct StageSpan {
  Stage stage = Stage::cpu_batch;
  std::int64_t batch = 0;  ///< or the group
  int lane = 0;            ///< the worker of a cpu_batch or group_prepare; 0 otherwise
  double begin_s = 0;
  double end_s = 0;
  int device = 0;
};

/// What a policy drives: the simulated machine and the real one.
///
/// Stages run on *lanes*: cpu_batch and group_prepare on any free one of the workers; transfer and
/// group_transfer on the device's copy lane; device_batch, device_gather and train on the device's lane (the
/// first two on one of their own where the machine prepares beside training); group_read on the disk's,
/// all_reduce on the one between the devices. A lane runs its stages one at a time, in the order they were
/// started (workers take from one common queue). A stage begins when its lane has reached it and all of
/// `after` are done; a lane waits for them meanwhile, as a CUDA stream does.
///
/// What data a stage needs and leaves behind is the machine's business; that a batch is prepared before it is
/// copied or trained, and how many are held at once, is the policy's.
///
/// One thread calls. start() and done() do not block. Only wait_any() blocks; it throws base::Interrupted
/// when the user asked to stop, and rethrows the first exception of a stage.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  /// Queues `stage` of `batch` on the first device; the tickets in `after` must have been given by this
  /// machine.
  Ticket start(Stage stage, std::int64_t batch, std::span<const Ticket> after) {
    return start_on(0, stage, batch, after);
  }
  /// The same on any device. Throws InputError for a device or stage that the machine does not have.
  virtual Ticket start_on(int device, Stage stage, std::int64_t batch, std::span<const Ticket> after) = 0;
  virtual bool done(Ticket ticket) = 0;
  /// Returns when at least one of `tickets` is done; at once if one is already. `tickets` is not empty.
  virtual void wait_any(std::span<const Ticket> tickets) = 0;
  virtual double now_s() = 0;
  /// Where and when a stage ran; only for a ticket that is done.
  virtual StageSpan span(Ticket ticket) = 0;
  /// What a stage takes in the mean, by what was known before the epoch; 0: nothing was.
  virtual double usual_s(Stage) const { return 0; }
};

}  // namespace gnomon::schedule
