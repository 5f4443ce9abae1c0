#include "tuner/tuner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tuner/choices.h"
#include "tuner/space.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

/// Searches the plans of one preset.
class Search {
 public:
  Search(const profiles::Profile& profile, const Evaluate& evaluate, const base::Progress& progress,
         const Plan& preset)
      : profile_(profile), evaluate_(evaluate), progress_(progress), preset_(preset) {}

  Candidate run(const plan::Cores& cores) {
    const std::vector<Plan> plans = choices(preset_, cores);
    if (plans.size() <= most_exhaustive) {
      try_all(plans);
      return *best_;
    }
    const Plan middle = plan::resolve(preset_, cores, preset_.name);
    try_all(those(plans, [&](const Plan& plan) {
      return plan.cpu_buffer == middle.cpu_buffer && plan.device_buffer == middle.device_buffer &&
             plan.look_ahead == middle.look_ahead;
    }));
    const Plan found = best_->plan;
    try_all(those(plans, [&](const Plan& plan) {
      return plan.workers == found.workers && plan.device_threads == found.device_threads;
    }));
    return *best_;
  }

  const std::optional<DispatcherResult>& dispatcher() const { return dispatcher_; }

 private:
  template <class Wanted>
  static std::vector<Plan> those(const std::vector<Plan>& plans, Wanted wanted) {
    std::vector<Plan> kept;
    std::copy_if(plans.begin(), plans.end(), std::back_inserter(kept), wanted);
    return kept;
  }

  void try_all(const std::vector<Plan>& plans) {
    std::int64_t tried = 0;
    for (const Plan* plan : most_promising_first(plans)) {
      base::report(progress_, "tuning " + preset_.name, tried++, std::ssize(plans));
      if (!best_ || bound_s(*plan) <= best_->prediction.epoch_s) {
        try_plan(*plan);
      }
    }
    base::report(progress_, "tuning " + preset_.name, std::ssize(plans), std::ssize(plans));
  }

  /// By their bounds; plans with fewer resources first among equals.
  std::vector<const Plan*> most_promising_first(const std::vector<Plan>& plans) {
    std::vector<std::pair<double, const Plan*>> order;
    for (const Plan& plan : plans) {
      order.emplace_back(bound_s(plan), &plan);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Plan*> sorted;
    for (const auto& [bound, plan] : order) {
      sorted.push_back(plan);
    }
    return sorted;
  }

  /// The bound depends on workers and device threads alone.
  double bound_s(const Plan& plan) {
    const auto [found, is_new] = bounds_s_.try_emplace({plan.workers, plan.device_threads});
    if (is_new) {
      const auto model = sim::machine_model(profile_, plan, true, 0);
      found->second = sim::lower_bound_s(model, plan.route, profile_.workload.batches);
    }
    return found->second;
  }

  void try_plan(const Plan& plan) {
    if (plan.schedule != plan::Schedule::dual_buffer) {
      keep_if_better({plan, evaluate_(plan)});
      return;
    }
    auto dispatched = dispatch(profile_, plan, evaluate_);
    if (keep_if_better(dispatched.best)) {
      dispatcher_ = std::move(dispatched);
    }
  }

  bool keep_if_better(const Candidate& candidate);

  const profiles::Profile& profile_;
  const Evaluate& evaluate_;
  const base::Progress& progress_;
  const Plan& preset_;
  std::map<std::pair<int, int>, double> bounds_s_;
  std::optional<Candidate> best_;
  std::optional<DispatcherResult> dispatcher_;
};

bool is_better(const Candidate& a, const Candidate& b) {
  return std::pair(a.prediction.epoch_s, resources(a.plan)) <
         std::pair(b.prediction.epoch_s, resources(b.plan));
}

bool Search::keep_if_better(const Candidate& candidate) {
  const bool better = !best_ || is_better(candidate, *best_);
  if (better) {
    best_ = candidate;
  }
  return better;
}

}  // namespace

TuneResult tune(const profiles::Profile& profile, const Evaluate& evaluate, const base::Progress& progress) {
  const plan::Cores cores{profile.machine.cpu.cores,
                          profile.machine.device.kind == profiles::DeviceKind::host};
  TuneResult result;
  const Evaluate counted = [&](const Plan& plan) {
    ++result.evaluations;
    return evaluate(plan);
  };
  for (const Plan& preset : plan::runnable_presets()) {
    Search search(profile, counted, progress, preset);
    result.candidates.push_back(search.run(cores));
    const auto& dispatched = search.dispatcher();
    if (dispatched &&
        (result.dispatcher.stopped_by.empty() || is_better(dispatched->best, result.dispatcher.best))) {
      result.dispatcher = *dispatched;
    }
  }
  std::stable_sort(result.candidates.begin(), result.candidates.end(), is_better);
  result.best = result.candidates.front();
  return result;
}

}  // namespace gnomon::tuner
