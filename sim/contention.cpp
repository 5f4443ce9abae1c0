#include "sim/contention.h"

#include <limits>
#include <utility>

namespace gnomon::sim {

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
      continue;  // gets less than it asks for
    }
    left -= each * count;
    users -= count;
  }
  const double level = users > 0 ? left / users : std::numeric_limits<double>::infinity();
  return std::max(1.0, share / level);
}

bool is_contended(const MachineModel& model) {
  bool found = model.prepare_share > 0;
  const auto look = [&found](const char*, double each, base::Range = {}) { found |= each != 1; };
  profiles::Contention::fields(model.contention, look);
  for (const double share : model.memory_shares) {
    found |= share > 0;
  }
  return found;
}

double slowdown(const MachineModel& model, schedule::Stage stage, int device, const Running& running) {
  const Kind kind = kind_of(stage);
  if (kind == Kind::none) {
    return 1;
  }
  const KindCounts& everywhere = running.everywhere();
  KindCounts beside = kind == Kind::cpu ? everywhere : running.on(device);
  beside[static_cast<std::size_t>(Kind::cpu)] = everywhere[static_cast<std::size_t>(Kind::cpu)];
  double factor = contention_slowdown(model.contention, kind, beside);
  const auto share = model.memory_shares[static_cast<std::size_t>(kind)];
  factor *= memory_slowdown(model.memory_shares, everywhere, share);
  // What prepares beside training keeps its multiprocessors for as long as it runs.
  const bool shares_device = kind == Kind::train && !model.host_device &&
                             running.on(device)[static_cast<std::size_t>(Kind::prepare)] > 0;
  return shares_device ? factor / (1 - model.prepare_share) : factor;
}

}  // namespace gnomon::sim
