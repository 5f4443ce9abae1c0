#pragma once

#include <optional>

#include "base/document.h"
#include "plan/abilities.h"

namespace gnomon::profiles {

/// The share of a device (plan::Plan::prepare_share) with which the profiler measures preparation beside
/// training.
inline constexpr double measured_prepare_share = 0.5;

/// Whether a machine's stages are measured beside each other in pipelines instead of a few side by side: on a
/// GPU, whose stages are short relative to what a thread needs to wake up, with several workers.
constexpr bool measures_pipelines(plan::DeviceKind device, int cores) {
  return !plan::runs_on_cores(device) && cores > 2;
}

/// Slowdown of a stage while one stage of another kind runs beside it on a core of its own: 1.1 means ten
/// percent longer. Slowdowns of several neighbours add up: 1 + sum of (slowdown - 1). A slowdown that was not
/// measured is absent and counts as 1. Copies and preparation on a device slow each other only as they share
/// the link, which is modelled apart.
///
/// A GPU's slowdowns by preparation beside training are measured with measured_prepare_share of its thread
/// slots.
struct Contention {
  std::optional<double> cpu_batch_beside_train{};
  std::optional<double> cpu_batch_beside_device_batch{};
  std::optional<double> train_beside_cpu_batch{};
  std::optional<double> device_batch_beside_cpu_batch{};
  std::optional<double> transfer_beside_train{};
  std::optional<double> train_beside_transfer{};
  std::optional<double> cpu_batch_beside_transfer{};
  std::optional<double> transfer_beside_cpu_batch{};
  /// A GPU's stages beside mini-batches that the CPU prepares on all cores but one, one on each: those of
  /// copies and training in a pipeline of both.
  std::optional<double> transfer_beside_workers{};
  std::optional<double> device_batch_beside_workers{};
  std::optional<double> train_beside_workers{};
  /// Those mini-batches beside such a pipeline, beyond worker_efficiency.
  std::optional<double> workers_beside_device{};
  std::optional<double> device_batch_beside_train{};  ///< of devices that prepare beside training
  std::optional<double> train_beside_device_batch{};
  std::optional<double> train_beside_resident_batch{};  ///< the last one where nothing is read over the link
  /// Of several devices on the host's cores, each on a core of its own.
  std::optional<double> train_beside_train{};
  std::optional<double> device_batch_beside_device_batch{};
  /// Slowdowns of an oversubscribed CPU (more runnable threads than cores) beyond its fair share: of a team
  /// of threads, whose barriers wait for the slowest of them …
  std::optional<double> crowded_team{};
  std::optional<double>
      beside_crowded_team{};  ///< … and of single threads beside a team, which may run faster

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    const base::Range range{0.5, 100};
    f("cpu_batch_beside_train", self.cpu_batch_beside_train, range);
    f("cpu_batch_beside_device_batch", self.cpu_batch_beside_device_batch, range);
    f("train_beside_cpu_batch", self.train_beside_cpu_batch, range);
    f("device_batch_beside_cpu_batch", self.device_batch_beside_cpu_batch, range);
    f("transfer_beside_train", self.transfer_beside_train, range);
    f("train_beside_transfer", self.train_beside_transfer, range);
    f("cpu_batch_beside_transfer", self.cpu_batch_beside_transfer, range);
    f("transfer_beside_cpu_batch", self.transfer_beside_cpu_batch, range);
    f("transfer_beside_workers", self.transfer_beside_workers, range);
    f("device_batch_beside_workers", self.device_batch_beside_workers, range);
    f("train_beside_workers", self.train_beside_workers, range);
    f("workers_beside_device", self.workers_beside_device, range);
    f("device_batch_beside_train", self.device_batch_beside_train, range);
    f("train_beside_device_batch", self.train_beside_device_batch, range);
    f("train_beside_resident_batch", self.train_beside_resident_batch, range);
    f("train_beside_train", self.train_beside_train, range);
    f("device_batch_beside_device_batch", self.device_batch_beside_device_batch, range);
    f("crowded_team", self.crowded_team, range);
    f("beside_crowded_team", self.beside_crowded_team, range);
  }
};

}  // namespace gnomon::profiles
