#include "plan/disk_plans.h"

namespace gnomon::plan {

bool reads_disk(const Plan& plan) { return arrays_on_disk(plan) > 0; }

int arrays_on_disk(const Plan& plan) {
  return (plan.topology == Home::disk ? 1 : 0) + (plan.features == Home::disk ? 1 : 0);
}

bool has_host_cache(const Plan& plan) { return plan.cache.is_used() && plan.cache.place == Home::host; }

bool looks_ahead(const Plan& plan) {
  return has_host_cache(plan) && plan.cache.policy == CachePolicy::optimal;
}

std::vector<Plan> runnable_presets_in_memory(const Abilities& device) {
  auto presets = runnable_presets(device);
  std::erase_if(presets, reads_disk);
  return presets;
}

}  // namespace gnomon::plan
