#include "tuner/explore/tuned_plans.h"

#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/predict.h"
#include "sim/uncertainty.h"
#include "tuner/tune.h"
#include "tuner/tuning_request.h"

namespace gnomon::tuner {
namespace {

/// The preset that uses the least memory.
plan::Plan smallest_plan(const profiles::Profile& profile, const TuningOptions& options) {
  plan::Plan smallest;
  double least_bytes = std::numeric_limits<double>::infinity();
  for (auto& plan : preset_plans(profile, request_of(profile, options, {}))) {
    const auto memory = sim::predict_quickly(profile, plan).memory;
    if (memory.missing_bytes < least_bytes) {
      least_bytes = memory.missing_bytes;
      smallest = std::move(plan);
    }
  }
  return smallest;
}

plan::Plan tuned_plan(const profiles::Profile& profile, const TuningOptions& options,
                      const std::atomic<bool>* stop) {
  try {
    return tune(profile, options, {}, {}, stop).best().plan;
  } catch (const base::Failure&) {  // no plan fits
  } catch (const base::InputError&) {
  }
  return smallest_plan(profile, options);
}

}  // namespace

void add_tuned_plans(ExplorationRequest& request, const TuningOptions& options,
                     const base::Progress& progress, const std::atomic<bool>* stop) {
  const auto count = std::ssize(request.profiles);
  for (std::int64_t i = 0; i < count; ++i) {
    base::report(progress, "tuning for each machine", i, count);
    auto& explored = request.profiles[static_cast<std::size_t>(i)];
    const auto profile = changed_profile(explored, {});
    sim::check_precision(profile, explored.where);
    explored.own_plans.insert(explored.own_plans.begin(), tuned_plan(profile, options, stop));
  }
}

}  // namespace gnomon::tuner
