#include "plan/regime.h"

#include <algorithm>

#include "plan/abilities.h"

namespace gnomon::plan {

int threads_without_core(const Plan& plan, const Cores& cores) {
  const int threads =
      plan.workers * plan.worker_threads + (runs_on_cores(cores.device) ? plan.device_threads : 0);
  return std::max(0, threads - cores.count);
}

Regime regime_of(const Plan& plan, const Cores& cores) {
  return {.route = plan.route,
          .is_crowded = threads_without_core(plan, cores) > 0,
          .trains_on_threads = runs_on_cores(cores.device) && plan.device_threads > 1};
}

std::vector<Regime> all_regimes() {
  std::vector<Regime> regimes;
  for (const auto& [route, name] : base::EnumNames<Route>::values) {
    for (const bool is_crowded : {false, true}) {
      for (const bool trains_on_threads : {false, true}) {
        regimes.push_back({route, is_crowded, trains_on_threads});
      }
    }
  }
  return regimes;
}

}  // namespace gnomon::plan
