#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "schedule/policies.h"
#include "schedule/timeline.h"
#include "sim/costs/memory.h"

namespace gnomon::sim {

/// How long each stage of each batch takes when nothing else runs, and which resources it holds.
struct StageCosts {
  double cpu_batch_s = 0;
  double transfer_s = 0;
  double device_batch_s = 0;
  double device_batch_link_s = 0;  ///< the part of device_batch_s, its first, that also uses the link
  double train_s = 0;
  double cpu_batch_disk_s = 0;     ///< before a worker's cpu_batch_s: its reads of the disk
  double device_batch_peer_s = 0;  ///< of device_batch_s, after the link part: reads from linked devices
  double device_gather_s = 0;      ///< gathering by the device that trains
  double device_gather_link_s = 0;
  double device_gather_peer_s = 0;
  double all_reduce_s = 0;
  double group_read_s = 0;     ///< of a macro-batch from the disk
  double group_prepare_s = 0;  ///< what the CPU does for a group of batches, on one core
  double group_transfer_s = 0;
};

/// What the simulated machine is built of. The mean costs, and with `costs_of` those of each batch.
struct MachineModel {
  int cores = 1;
  int workers = 1;
  int worker_threads = 1;    ///< cores that a CPU batch keeps busy
  bool host_device = false;  ///< the device lane and the copy lane run on the cores too; there is no link
  int device_threads = 1;    ///< cores that training on a host device keeps busy
  int prepare_threads = 1;   ///< cores that its preparing keeps busy
  StageCosts costs{};        ///< mean of each stage, worker efficiency and speed-ups already in it
  profiles::Contention contention{};
  /// What each batch costs; empty: the mean.
  std::function<StageCosts(std::int64_t batch)> costs_of{};
  int devices = 1;
  int devices_per_link = 1;              ///< that share one way to the host
  int devices_per_clique = 1;            ///< that are linked to each other
  int disk_depth = 1;                    ///< reads in flight that get all there is of the disk
  double prepare_share = 0;              ///< of a device's multiprocessors, when it prepares beside training
  bool gathers_beside_training = false;  ///< devices gather for the next batch while they train one
  /// Of the host memory's bandwidth that a stage asks for alone: CPU work, copies, device preparation,
  /// training.
  std::array<double, 4> memory_shares{};
};

/// The model of a resolved plan on a profiled machine. `spread`: batches differ as they were measured to, by
/// draws keyed with `seed` that are the same for every plan; otherwise all cost the mean.
MachineModel machine_model(const profiles::Profile& profile, const plan::Plan& plan, bool spread,
                           std::uint64_t seed);

/// What an epoch takes beside time; 0: the profile does not tell.
struct EpochUse {
  double energy_j = 0;
  double price = 0;
};

/// One predicted epoch.
struct Prediction {
  double epoch_s = 0;
  double lower_bound_s = 0;
  double cpu_utilisation = 0;     ///< of the workers
  double link_utilisation = 0;    ///< copies, and device batching's reads
  double device_utilisation = 0;  ///< device batching and training
  double blocked_on_cpu_s = 0;
  double blocked_on_device_s = 0;
  std::int64_t cpu_batches = 0;
  std::string bound_by;  ///< "cpu", "link", "device", "disk" or "peers": the busiest
  double disk_utilisation = 0;
  double reduce_utilisation = 0;              ///< of what averages gradients between devices
  Memory memory;                              ///< by predict only; with a shortage the epoch takes for ever
  EpochUse use;                               ///< by predict only
  std::vector<schedule::StageSpan> timeline;  ///< only when asked for
};

/// Runs epochs in the SimGrid engine, of which a process has one that is used again and again. Deterministic:
/// what ran before does not matter, to the last bit within the process's first 4,096 runs. Not thread-safe.
class Simulator {
 public:
  /// Makes the engine when this process has none.
  Simulator();

  /// Runs the plan's schedule (schedule::run_epoch, the code that trains) on the simulated machine. Throws
  /// what the schedule throws.
  Prediction run(const plan::Plan& plan, const MachineModel& model, std::int64_t batches, bool with_timeline);

  /// Calls `drive` with a fresh simulated machine, for about so many batches. Its exceptions come out.
  void with_machine(const MachineModel& model, std::int64_t batches,
                    const std::function<void(schedule::Machine&)>& drive);
};

/// The plan as it runs on the profile's machine: plan::resolve, and devices that sample where that is left
/// open. Throws InputError.
plan::Plan resolve_on(const profiles::Profile& profile, const plan::Plan& plan);

/// Resolves the plan on the profile's machine, models it (with spread) and runs one epoch; of a plan that
/// does not fit into memory nothing but the memory is told.
Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline = false, std::uint64_t seed = 0);

/// An epoch by arithmetic, without SimGrid, for ranking many plans: agrees with Simulator::run within 0.1 %
/// and takes a tenth of its time or less. A schedule that repeats itself is followed until it does, and the
/// periods that are left out are added; one that does not is followed to its end. Blocked times are scaled
/// with the epoch. `model` has the same costs for every batch, or invalid_argument is thrown.
Prediction run_quickly(const plan::Plan& plan, const MachineModel& model, std::int64_t batches);

/// predict() by run_quickly(): the same but that all batches cost the mean.
Prediction predict_quickly(const profiles::Profile& profile, const plan::Plan& plan);

/// No schedule whatever can be faster (systems.md §4, LB): the minimum over n_c, the batches that come by the
/// CPU route, of the busiest resource's work. `route` limits n_c to n (cpu) or 0 (device). With a host device
/// all work also shares the cores. Where each batch has costs of its own, not even a schedule that knew them
/// beforehand can be faster; as others do not, this bound is a few percent further away than that of the
/// mean.
double lower_bound_s(const MachineModel& model, plan::Route route, std::int64_t batches);

/// The same for one plan on a machine of one device or more: also counts what the plan's other stages ask of
/// devices, disk and links, and which devices do what.
double lower_bound_s(const MachineModel& model, const plan::Plan& plan, std::int64_t batches);

}  // namespace gnomon::sim
