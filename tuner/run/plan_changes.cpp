#include "tuner/run/plan_changes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/doubling.h"
#include "base/error.h"
#include "plan/abilities.h"
#include "plan/exactness.h"
#include "sim/predict.h"
#include "tuner/run/turns.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

bool lies_alike(const Plan& a, const Plan& b) {
  return std::tie(a.topology, a.features, a.devices, a.placement, a.pinning) ==
             std::tie(b.topology, b.features, b.devices, b.placement, b.pinning) &&
         a.cache == b.cache;
}

/// 0 keeps the current number.
Plan variant_of(Plan plan, int workers, int device_threads) {
  const auto take = [&plan](int& field, int count, const char* what) {
    if (count > 0 && field != count) {
      field = count;
      plan.name += ", " + std::to_string(count) + " " + what + (count > 1 ? "s" : "");
    }
  };
  take(plan.workers, workers, "worker");
  take(plan.device_threads, device_threads, "device thread");
  return plan;
}

std::optional<Plan> resolved(const Plan& plan, const plan::Cores& cores) {
  try {
    return plan::resolve(plan, cores, plan.name);
  } catch (const base::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Plan> plans_to_change_to(const Plan& plan, const plan::Cores& cores) {
  const auto abilities = plan::abilities_of(cores.device);
  std::vector<Plan> plans{plan};
  std::set<std::string> known;
  const auto fields_of = [](Plan of) {  // without name and source
    of.name = of.source = "";
    return base::write_value(of).dump();
  };
  known.insert(fields_of(plan));
  auto presets = plan::presets();
  presets.insert(presets.begin(), plan);
  auto counts = base::doubling(cores.count);
  counts.insert(counts.begin(), 0);
  for (const Plan& preset : presets) {
    for (const int workers : counts) {
      for (const int threads : counts) {
        const auto other = resolved(variant_of(preset, workers, threads), cores);
        if (other && plan::exactness_of(*other) == plan::Exactness::bits && lies_alike(*other, plan) &&
            plan::why_not_executed(*other, abilities).empty() && known.insert(fields_of(*other)).second) {
          plans.push_back(*other);
        }
      }
    }
  }
  return plans;
}

std::vector<Plan> promising_plans(const profiles::Profile& profile, const std::vector<Plan>& plans,
                                  const Plan& current) {
  constexpr std::size_t max_plans = 5;
  std::vector<std::pair<double, const Plan*>> ranked;
  for (const Plan& plan : plans) {
    ranked.emplace_back(sim::predict_quickly(profile, plan).epoch_s, &plan);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto kind = [](const Plan& plan) { return std::pair(plan.schedule, plan.route); };
  std::vector<Plan> chosen{current};
  const auto choose = [&](const auto& key) {
    for (const auto& [epoch_s, plan] : ranked) {
      const bool is_known =
          std::any_of(chosen.begin(), chosen.end(), [&](const Plan& c) { return key(c) == key(*plan); });
      if (chosen.size() < max_plans && std::isfinite(epoch_s) && !is_known) {
        chosen.push_back(*plan);
      }
    }
  };
  choose(kind);
  choose(key_of);
  return chosen;
}

}  // namespace gnomon::tuner
