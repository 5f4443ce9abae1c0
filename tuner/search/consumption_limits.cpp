#include "tuner/search/consumption_limits.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gnomon::tuner {

void check(const ConsumptionLimits& limits, const profiles::Profile& profile) {
  const auto& machine = profile.machine;
  if (std::isfinite(limits.energy_j)) {
    if (!machine.running.core_w) {
      throw base::InputError("energy limit",
                             "the profile lacks the power of a core: machine.running.core_w is unknown");
    }
    if (machine.device.kind == profiles::DeviceKind::cuda && !machine.running.device_w) {
      throw base::InputError("energy limit",
                             "the profile lacks the power of the GPU: machine.running.device_w is unknown");
    }
  }
  if (std::isfinite(limits.price) && !machine.running.price_per_hour) {
    throw base::InputError(
        "price limit", "the profile lacks the machine's price: machine.running.price_per_hour is unknown");
  }
}

double share_of_limits(const ConsumptionLimits& limits, const sim::Consumption& consumption, double batches) {
  return std::max(consumption.energy_j.value_or(0) / limits.energy_j,
                  consumption.price.value_or(0) / limits.price) *
         limits.batches / batches;
}

}  // namespace gnomon::tuner
