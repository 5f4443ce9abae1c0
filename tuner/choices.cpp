#include "tuner/choices.h"

#include <algorithm>

#include "tuner/space.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;
using plan::Schedule;

/// The plans with `field` set to each of `values`.
std::vector<Plan> with_each(const std::vector<Plan>& plans, int Plan::*field,
                            const std::vector<int>& values) {
  std::vector<Plan> product;
  for (const Plan& plan : plans) {
    for (const int value : values) {
      product.emplace_back(plan).*field = value;
    }
  }
  return product;
}

/// The plans with `field` also set to each of `values` that is not its own.
std::vector<Plan> with_own_and(const std::vector<Plan>& plans, int Plan::*field, std::vector<int> values) {
  values.push_back(plans.front().*field);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return with_each(plans, field, values);
}

}  // namespace

std::vector<Plan> choices(const Plan& preset, const plan::Cores& cores) {
  std::vector<Plan> plans =
      with_each({plan::resolve(preset, cores, preset.name)}, &Plan::device_threads, thread_choices(cores));
  if (preset.schedule != Schedule::sequential) {
    plans = with_each(plans, &Plan::workers, worker_choices(cores.count));
  }
  if (preset.schedule == Schedule::pipelined || preset.schedule == Schedule::claim_ahead) {
    plans = with_own_and(plans, &Plan::cpu_buffer, {1, 2, 4, 8});
    plans = with_own_and(plans, &Plan::device_buffer, {2, 4, 8});
  }
  if (preset.schedule == Schedule::claim_ahead) {
    plans = with_own_and(plans, &Plan::look_ahead, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64});
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const Plan& a, const Plan& b) { return resources(a) < resources(b); });
  return plans;
}

}  // namespace gnomon::tuner
