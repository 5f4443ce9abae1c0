#include "tuner/search/preference.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "base/error.h"
#include "plan/disk_plans.h"
#include "plan/regime.h"

namespace gnomon::tuner {
namespace {

/// Twice the buffers of a default plan (plan::Plan), so that a batch that takes twice as long as usual stalls
/// no engine.
constexpr int usual_cpu_buffer = 4;
constexpr int usual_device_buffer = 4;

int beyond_usual_buffers(const plan::Plan& plan) {
  const bool has_buffers = plan.schedule != plan::Schedule::sequential;
  return has_buffers ? std::max(0, plan.cpu_buffer - usual_cpu_buffer) +
                           std::max(0, plan.device_buffer - usual_device_buffer)
                     : 0;
}

}  // namespace

plan::Plan with_usual_buffers(plan::Plan plan) {
  using plan::Schedule;
  // Sequential plans have no buffers, and those of dual_buffer determine the ratio of its routes.
  if (plan.schedule != Schedule::sequential && plan.schedule != Schedule::dual_buffer) {
    plan.cpu_buffer = usual_cpu_buffer;
    plan.device_buffer = usual_device_buffer;
    plan.look_ahead = 0;
  }
  return plan;
}

std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores,
                      std::optional<double> measured_error, plan::Exactness required) {
  double fastest_s = std::numeric_limits<double>::infinity();
  bool has_any = false;
  for (const auto& candidate : candidates) {
    if (plan::exactness_of(candidate.plan) >= required) {
      fastest_s = std::min(fastest_s, candidate.prediction.epoch_s);
      has_any = true;
    }
  }
  if (!has_any) {
    throw base::Failure("tuning", "no plan that was tried is exact: " + std::string(base::name_of(required)));
  }
  const auto rank = [&](const Candidate& candidate) {
    const double epoch_s = candidate.prediction.epoch_s;
    const bool promises = plan::exactness_of(candidate.plan) >= required;
    const bool is_fast = promises && epoch_s <= fastest_s * (1 + same_epoch(cores, measured_error));
    return std::tuple(!promises, !is_fast, is_fast ? plan::arrays_on_disk(candidate.plan) : 0,
                      is_fast ? plan::threads_without_core(candidate.plan, cores) : 0,
                      is_fast ? beyond_usual_buffers(candidate.plan) : 0, epoch_s);
  };
  const auto best =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  return static_cast<std::size_t>(best - candidates.begin());
}

std::vector<PassedOver> passed_over(const std::vector<Candidate>& candidates, const Candidate& best,
                                    const plan::Cores& cores, plan::Exactness required) {
  std::vector<PassedOver> faster;
  for (const auto& candidate : candidates) {
    if (candidate.prediction.epoch_s >= best.prediction.epoch_s) {
      continue;
    }
    const bool promises = plan::exactness_of(candidate.plan) >= required;
    const bool is_crowded =
        plan::threads_without_core(candidate.plan, cores) > plan::threads_without_core(best.plan, cores);
    const bool reads_more = plan::arrays_on_disk(candidate.plan) > plan::arrays_on_disk(best.plan);
    faster.push_back({candidate, !promises    ? PassedOverFor::exactness
                                 : reads_more ? PassedOverFor::disk
                                 : is_crowded ? PassedOverFor::threads
                                              : PassedOverFor::buffers});
  }
  std::stable_sort(faster.begin(), faster.end(), [](const PassedOver& a, const PassedOver& b) {
    return a.candidate.prediction.epoch_s < b.candidate.prediction.epoch_s;
  });
  return faster;
}

}  // namespace gnomon::tuner
