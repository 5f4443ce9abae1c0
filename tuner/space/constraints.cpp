#include <string>

#include "base/error.h"
#include "sim/costs/costs.h"
#include "sim/predict.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

std::string over_limit(const char* what, double bytes, double limit) {
  return bytes <= limit ? ""
                        : std::string(what) + ": " + std::to_string(bytes / 1e9) +
                              " GB are over the limit of " + std::to_string(limit / 1e9) + " GB";
}

std::string why_not_in_memory(const profiles::Profile& profile, const MemoryLimits& limits,
                              const Plan& plan) {
  try {
    const auto memory = sim::costs_of_plan(profile, sim::resolve_on(profile, plan)).memory;
    if (auto text = sim::shortage_text(memory); !text.empty()) {
      return text;
    }
    const auto text = over_limit("host memory", memory.host_peak_bytes(), limits.host_bytes);
    return text.empty() ? over_limit("device memory", memory.device.total(), limits.device_bytes) : text;
  } catch (const base::InputError& error) {
    return error.what();
  }
}

}  // namespace

Constraint exact_only() {
  return {"exact plans only",
          [](const Plan& plan) {
            return plan::changes_training(plan) ? std::string("changes the training") : std::string();
          },
          true};
}

Constraint at_least(plan::Exactness least) {
  return {"exact: " + std::string(base::name_of(least)),
          [least](const Plan& plan) {
            const auto promised = plan::exactness_of(plan);
            return promised >= least ? std::string() : std::string(plan::description_of(promised));
          },
          true};
}

Constraint runnable_only(const plan::Abilities& device) {
  return {"plans that the runtime executes",
          [device](const Plan& plan) { return plan::why_not_executed(plan, device); }, true};
}

Constraint runnable_only() {
  auto in_memory = plan::abilities_of(plan::DeviceKind::host);
  in_memory.data_on_disk = false;
  return runnable_only(in_memory);
}

Constraint fits_memory(const profiles::Profile& profile, const MemoryLimits& limits) {
  return {"plans that fit into memory",
          [profile, limits](const Plan& plan) { return why_not_in_memory(profile, limits, plan); }};
}

}  // namespace gnomon::tuner
