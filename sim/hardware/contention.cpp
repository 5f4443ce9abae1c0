#include "sim/hardware/contention.h"

#include <limits>
#include <numeric>
#include <utility>

namespace gnomon::sim {

int threads_of(const MachineModel& model, Kind kind) {
  switch (kind) {
    case Kind::cpu:
      return model.worker_threads;
    case Kind::copy:
      return model.host_device ? 1 : 0;
    case Kind::prepare:
      return model.on_cores() ? model.prepare_threads : 0;
    case Kind::train:
      return model.on_cores() ? model.device_threads : 0;
    case Kind::none:
      break;
  }
  return 0;
}

double crowding(const MachineModel& model, Kind kind, const KindCounts& threads) {
  const int all = std::accumulate(threads.begin(), threads.end(), 0);
  if (all <= model.cores || kind == Kind::none) {
    return 1;
  }
  bool has_team = false;
  for (std::size_t k = 0; k < num_kinds; ++k) {
    has_team |= threads[k] > 0 && threads_of(model, static_cast<Kind>(k)) > 1;
  }
  if (!has_team || threads_of(model, kind) == 0) {
    return 1;
  }
  const auto& contention = model.contention;
  const double measured =
      (threads_of(model, kind) > 1 ? contention.crowded_team : contention.beside_crowded_team).value_or(1);
  return std::max(measured, static_cast<double>(model.cores) / all);
}

double best_crowding(const MachineModel& model, Kind kind, const KindCounts& counts) {
  KindCounts threads{};
  for (std::size_t k = 0; k < num_kinds; ++k) {
    threads[k] = counts[k] * threads_of(model, static_cast<Kind>(k));
  }
  return std::min(1.0, crowding(model, kind, threads));
}

double memory_slowdown(const std::array<double, num_kinds>& shares, const KindCounts& counts, double share) {
  std::array<std::pair<double, int>, num_kinds> askers;
  double asked = 0;
  int users = 0;
  for (std::size_t kind = 0; kind < num_kinds; ++kind) {
    const int count = shares[kind] > 0 ? counts[kind] : 0;
    askers[kind] = {shares[kind], count};
    asked += shares[kind] * count;
    users += count;
  }
  if (asked <= 1 || share <= 0) {
    return 1;
  }
  std::sort(askers.begin(), askers.end());
  double left = 1;
  for (const auto& [each, count] : askers) {
    if (count == 0 || each * users > left) {
      continue;  // its demand is not met
    }
    left -= each * count;
    users -= count;
  }
  const double level = users > 0 ? left / users : std::numeric_limits<double>::infinity();
  return std::max(1.0, share / level);
}

bool is_contended(const MachineModel& model) {
  bool found = false;
  const auto look = [&found](const char*, const auto& each, base::Range) { found |= each.value_or(1) != 1; };
  profiles::Contention::fields(model.contention, look);
  for (const double share : model.memory_shares) {
    found |= share > 0;
  }
  return found;
}

double slowdown(const MachineModel& model, schedule::Stage stage, int device, const RunningStages& running) {
  const Kind kind = kind_of(stage);
  if (kind == Kind::none) {
    return 1;
  }
  const KindCounts& everywhere = running.everywhere();
  const auto own = static_cast<std::size_t>(kind);
  KindCounts beside = kind == Kind::cpu || model.on_cores() ? everywhere : running.on(device);
  beside[static_cast<std::size_t>(Kind::cpu)] = everywhere[static_cast<std::size_t>(Kind::cpu)];
  beside[own] = std::max(0, beside[own] - 1);  // the stage itself
  const double factor = contention_slowdown(model.contention, kind, beside, model.cores);
  const auto share = model.memory_shares[own];
  return factor * memory_slowdown(model.memory_shares, everywhere, share);
}

}  // namespace gnomon::sim
