#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/costs/costs.h"
#include "sim/predict.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

/// A cache that fills the memory up to the limit may exceed it by rounding.
constexpr double rounding = 1e-9;

std::string over_limit(const char* what, double bytes, double limit) {
  return bytes <= limit * (1 + rounding)
             ? ""
             : std::string(what) + ": " + std::to_string(bytes / 1e9) + " GB are over the limit of " +
                   std::to_string(limit / 1e9) + " GB";
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

Constraint runnable_only(const profiles::Profile& profile) {
  const auto& disk = profile.machine.disk;
  auto device = plan::abilities_of(profile.machine.device.kind);
  device.data_on_disk &= disk.random_reads_per_s.has_value() || disk.bandwidth_bytes_per_s.has_value();
  auto constraint = runnable_only(device);
  if (profile.workload.job.weighted) {
    constraint.why_not = [runs = std::move(constraint.why_not)](const Plan& plan) {
      return plan.topology == plan::Home::disk ? std::string("topology \"disk\" with draws by weight")
                                               : runs(plan);
    };
  }
  return constraint;
}

profiles::Profile with_host_memory(profiles::Profile profile, const MemoryLimits& limits) {
  auto& bytes = profile.machine.cpu.memory_bytes;
  if (std::isfinite(limits.host_bytes)) {
    bytes = std::min(bytes.value_or(limits.host_bytes), limits.host_bytes);
  }
  return profile;
}

Constraint fits_memory(const profiles::Profile& profile, const MemoryLimits& limits) {
  return {"plans that fit into memory",
          [profile, limits](const Plan& plan) { return why_not_in_memory(profile, limits, plan); }};
}

}  // namespace gnomon::tuner
