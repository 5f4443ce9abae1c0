#include "profiles/measure/contention.h"

#include <algorithm>

#include "profiles/scaling.h"

namespace gnomon::profiles {
namespace {

constexpr double min_slowdown = 0.5;
constexpr double max_slowdown = 100;

}  // namespace

std::optional<double> clamped(std::optional<double> slowdown) {
  return slowdown ? std::optional(std::clamp(*slowdown, min_slowdown, max_slowdown)) : slowdown;
}

std::optional<double> beyond_fair_share(std::optional<double> slowdown, std::optional<double> beside,
                                        int cores) {
  if (!slowdown) {
    return std::nullopt;
  }
  const double fair = static_cast<double>(cores + 1) / cores;
  return clamped(*slowdown / (fair * beside.value_or(1)));
}

Contention contention_of(const Measured& measured, const std::vector<ScalingPoint>& worker_efficiency,
                         int cores, DeviceKind device) {
  const auto of_cpu = [device](const Ratio& slowdown) {
    return device == DeviceKind::cuda ? slowdown.lower_quartile() : slowdown.value();
  };
  Contention contention;
  contention.cpu_batch_beside_train = of_cpu(measured.cpu_batch_beside_train);
  contention.cpu_batch_beside_device_batch = of_cpu(measured.cpu_batch_beside_device_batch);
  contention.train_beside_cpu_batch = measured.train_beside_cpu_batch.value();
  contention.device_batch_beside_cpu_batch = measured.device_batch_beside_cpu_batch.value();
  contention.transfer_beside_train = measured.transfer_beside_train.value();
  contention.train_beside_transfer = measured.train_beside_transfer.value();
  contention.cpu_batch_beside_transfer = of_cpu(measured.cpu_batch_beside_transfer);
  contention.transfer_beside_cpu_batch = measured.transfer_beside_cpu_batch.value();
  contention.transfer_beside_workers = clamped(measured.transfer_beside_workers.value());
  contention.device_batch_beside_workers = measured.device_batch_beside_workers.value();
  contention.train_beside_workers = clamped(measured.train_beside_workers.value());
  if (const auto ratio = measured.workers_beside_device.value()) {
    contention.workers_beside_device = clamped(*ratio * worker_efficiency_at(worker_efficiency, cores - 1));
  }
  contention.device_batch_beside_train = clamped(measured.device_batch_beside_train.value());
  contention.train_beside_device_batch = clamped(measured.train_beside_device_batch.value());
  contention.train_beside_train = measured.train_beside_train.value();
  contention.device_batch_beside_device_batch = measured.device_batch_beside_device_batch.value();
  contention.crowded_team =
      beyond_fair_share(measured.team_beside_cpu_batch.value(), contention.train_beside_cpu_batch, cores);
  contention.beside_crowded_team =
      beyond_fair_share(measured.cpu_batch_beside_team.value(), contention.cpu_batch_beside_train, cores);
  return contention;
}

}  // namespace gnomon::profiles
