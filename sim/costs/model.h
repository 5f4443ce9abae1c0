#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The time of each stage of a batch if nothing else runs, in seconds, and the parts that use certain
/// resources.
struct StageCosts {
  double cpu_batch_s = 0;
  double transfer_s = 0;
  double device_batch_s = 0;
  double device_batch_link_s = 0;  ///< the first part of device_batch_s, which also uses the link
  double train_s = 0;
  double cpu_batch_disk_s = 0;     ///< a worker's reads, with a full queue, before its cpu_batch_s
  double device_batch_peer_s = 0;  ///< the second part of device_batch_s: reads from linked devices
  double device_gather_s = 0;      ///< gathering by the training device
  double device_gather_link_s = 0;
  double device_gather_peer_s = 0;
  double all_reduce_s = 0;
  double all_reduce_cores_s = 0;  ///< the first part of all_reduce_s, on a core: the average and the update
  double group_read_s = 0;        ///< reading a macro-batch from the disk
  double group_prepare_s = 0;     ///< CPU work for a group of batches, on one core
  double group_transfer_s = 0;
};

/// The parameters of a simulated machine: mean costs, and with `costs_of` the costs of each batch.
struct MachineModel {
  int cores = 1;
  int workers = 1;
  int worker_threads = 1;        ///< cores that a CPU batch keeps busy
  bool host_device = false;      ///< the device's and the copy engine run on the cores; there is no link
  bool emulated_device = false;  ///< the device's engine runs on the cores, except its reads over the link
  int device_threads = 1;        ///< cores that training on such a device keeps busy
  int prepare_threads = 1;       ///< cores that preparing on such a device keeps busy
  StageCosts costs{};            ///< mean of each stage, with worker efficiency and speed-ups applied
  profiles::Contention contention{};
  /// The costs of each batch; if empty, every batch costs the mean.
  std::function<StageCosts(std::int64_t batch)> costs_of{};
  int devices = 1;
  int devices_per_link = 1;    ///< devices that share one link to the host
  int devices_per_clique = 1;  ///< number of devices that are linked to each other
  int disk_depth = 1;          ///< reads in flight that saturate the disk
  double prepare_share = 0;    ///< share of a device that prepares beside training; 0: it alternates
  bool gathers_beside_training = false;  ///< devices gather the next batch while they train one
  /// The share of the host's memory bandwidth that a stage uses when it runs alone: CPU work, copies, device
  /// preparation, training.
  std::array<double, 4> memory_shares{};

  /// Whether the device computes on the host's cores.
  bool on_cores() const { return host_device || emulated_device; }
};

/// The model of a resolved plan on a profiled machine. With `spread`, batches vary as measured, by draws
/// keyed with `seed` that are the same for every plan; otherwise every batch has the mean costs.
MachineModel machine_model(const profiles::Profile& profile, const plan::Plan& plan, bool spread,
                           std::uint64_t seed);

/// machine_model() of a plan with known mean costs.
MachineModel machine_model(const profiles::Profile& profile, const plan::Plan& plan, const StageCosts& costs,
                           bool spread, std::uint64_t seed);

}  // namespace gnomon::sim
