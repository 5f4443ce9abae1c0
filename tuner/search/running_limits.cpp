#include "tuner/search/running_limits.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gnomon::tuner {

void check(const RunningLimits& limits, const profiles::Profile& profile) {
  const auto& machine = profile.machine;
  if (std::isfinite(limits.energy_j)) {
    if (!machine.running.core_w) {
      throw base::InputError(
          "--energy-limit", "the profile does not tell what a core draws: machine.running.core_w is unknown");
    }
    if (machine.device.kind == profiles::DeviceKind::cuda && !machine.running.device_w) {
      throw base::InputError(
          "--energy-limit",
          "the profile does not tell what the GPU draws: machine.running.device_w is unknown");
    }
  }
  if (std::isfinite(limits.price) && !machine.running.price_per_hour) {
    throw base::InputError(
        "--price-limit",
        "the profile does not tell what the machine costs: machine.running.price_per_hour is unknown");
  }
}

double share_of_limits(const RunningLimits& limits, const sim::EpochUse& use, double batches) {
  return std::max(use.energy_j / limits.energy_j, use.price / limits.price) * limits.batches / batches;
}

}  // namespace gnomon::tuner
