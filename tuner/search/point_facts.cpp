#include "tuner/search/point_facts.h"

#include <algorithm>

#include "plan/fields.h"
#include "sim/bound.h"
#include "sim/costs/costs.h"
#include "sim/predict.h"

namespace gnomon::tuner {

PointFacts::PointFacts(const profiles::Profile& profile, const Space& space, const ConsumptionLimits& limits)
    : profile_(profile), space_(space), limits_(limits), short_(profile) {
  constexpr std::int64_t max_batches = 240;
  short_.workload.batches = std::min(profile.workload.batches, max_batches);
}

bool PointFacts::is_feasible(const Point& point) {
  const auto [found, is_new] = feasible_.try_emplace(point);
  if (is_new) {
    found->second = space_.is_feasible(point);
  }
  return found->second;
}

double PointFacts::estimate_s(const Point& point) {
  const auto [found, is_new] = estimates_.try_emplace(point);
  if (is_new) {
    const double share =
        static_cast<double>(profile_.workload.batches) / static_cast<double>(short_.workload.batches);
    const auto prediction = sim::predict_quickly(short_, space_.plan_at(point));
    const double used =
        share_of_limits(limits_, prediction.consumption, static_cast<double>(short_.workload.batches));
    found->second = share * prediction.epoch_s * (used > 1 ? 10 * used : 1);
  }
  return found->second;
}

double PointFacts::lower_bound_s(const Point& point) {
  plan::Plan plan = space_.plan_at(point);
  const plan::Plan usual;
  plan::Plan key = plan;
  key.order = usual.order;
  key.look_ahead = usual.look_ahead;
  key.copy_during_device_batch = usual.copy_during_device_batch;
  if (!plan.cache.is_used()) {  // a cache's size depends on the memory left by buffers
    key.cpu_buffer = usual.cpu_buffer;
    key.device_buffer = usual.device_buffer;
  }
  const auto [found, is_new] = bounds_.try_emplace(field_values(key));
  if (is_new) {
    plan = sim::resolve_on(profile_, plan);
    found->second = sim::lower_bound_s(sim::machine_model(profile_, plan, false, 0), plan,
                                       sim::batches_of(profile_.workload, plan));
  }
  return found->second;
}

}  // namespace gnomon::tuner
