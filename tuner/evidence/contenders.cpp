#include "tuner/evidence/contenders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "plan/fields.h"
#include "profiles/beliefs.h"
#include "sim/predict.h"
#include "tuner/search/ranking.h"
#include "tuner/tuning_request.h"

namespace gnomon::tuner {
namespace {

constexpr std::int64_t estimates_of_search = 120;
constexpr std::size_t best_of_search = 10;
constexpr std::int64_t max_climbed = 150;
constexpr std::int64_t searched_batches = 64;
constexpr double deviations = 2;
constexpr double least_deviation = 0.03;

/// Over the fastest, a plan in its best scenario: predictions of single plans are off by several percent.
constexpr double within = 1.1;

bool are_equal(const std::vector<double>& ratios, const std::vector<double>& others) {
  constexpr double same = 2e-3;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!(std::abs(ratios[i] - others[i]) <= same)) {
      return false;
    }
  }
  return true;
}

/// The profile if its numbers that favour some plans, or all of them, are better than believed; worse with
/// negative `by`.
profiles::Profile if_better(profiles::Profile profile, double by, std::optional<profiles::Favours> favours) {
  const auto quantities = profiles::quantities_of(profile);
  for (const auto& belief : profile.beliefs) {
    const auto* const quantity = profiles::find_quantity(quantities, belief.of);
    if (quantity != nullptr && (!favours || quantity->favours == *favours)) {
      const double shift = by * belief.deviation;
      quantity->of(profile) *= std::exp(quantity->kind == profiles::QuantityKind::speed_up ? shift : -shift);
    }
  }
  return profile;
}

/// The profile at the medians, and variants of it.
std::vector<profiles::Profile> scenarios_of(const profiles::Profile& profile) {
  std::vector<profiles::Profile> scenarios{profile};
  const auto quantities = profiles::quantities_of(profile);
  std::set<profiles::Favours> groups;
  for (const auto& belief : profile.beliefs) {
    const auto* const quantity = profiles::find_quantity(quantities, belief.of);
    if (quantity != nullptr && belief.deviation > least_deviation) {
      groups.insert(quantity->favours);
    }
  }
  for (const auto favours : groups) {
    scenarios.push_back(if_better(profile, deviations, favours));
    scenarios.push_back(if_better(profile, -deviations, favours));
  }
  if (groups.size() > 1) {
    scenarios.push_back(if_better(profile, deviations, std::nullopt));
  }
  return scenarios;
}

class Contenders {
 public:
  Contenders(const profiles::Profile& profile, const TuningOptions& options)
      : request_(request_of(profile, options, {})), space_(request_) {
    for (auto& plan : preset_plans(profile, request_)) {
      add(std::move(plan));
    }
  }

  /// The best of the whole space.
  void search(const profiles::Profile& scenario) {
    PointFacts facts(scenario, space_);
    base::RandomStream random({.seed = 0, .purpose = base::Purpose::simulate, .epoch = 4});
    const auto points = ranked_points({scenario, space_, facts, 0}, random, estimates_of_search);
    for (std::size_t i = 0; i < std::min(best_of_search, points.size()); ++i) {
      add(space_.plan_at(points[i]));
    }
  }

  /// The local optimum around the best that is known.
  void climb(const profiles::Profile& scenario) {
    PointFacts facts(scenario, space_);
    std::optional<Point> best;
    double best_s = std::numeric_limits<double>::infinity();
    const auto look_at = [&](const Point& point) {
      const double seconds =
          facts.is_feasible(point) ? facts.estimate_s(point) : std::numeric_limits<double>::infinity();
      const bool is_better = seconds < best_s;
      if (is_better) {
        best = point;
        best_s = seconds;
      }
      return is_better;
    };
    for (const auto& plan : plans_) {
      if (const auto point = space_.nearest(plan)) {
        look_at(*point);
      }
    }
    for (bool improves = best.has_value(); improves && facts.num_estimates() < max_climbed;) {
      improves = false;
      for (const Point& next : space_.neighbours(*best)) {
        improves |= look_at(next);
      }
    }
    if (best) {
      add(space_.plan_at(*best));
    }
  }

  /// By how far a plan is from the fastest in its best scenario; of plans that take equally long in all of
  /// them only the first.
  std::vector<plan::Plan> closest(const std::vector<profiles::Profile>& scenarios,
                                  std::size_t max_plans) const {
    const auto ratios = ratios_in(scenarios);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (const double least = *std::ranges::min_element(ratios[i]); least <= within) {
        order.emplace_back(least, i);
      }
    }
    std::ranges::sort(order);
    std::vector<std::size_t> kept;
    for (const auto& [least, i] : order) {
      const auto repeats = [&, plan = i](std::size_t other) {
        return are_equal(ratios[plan], ratios[other]);
      };
      if (kept.size() < max_plans && std::ranges::none_of(kept, repeats)) {
        kept.push_back(i);
      }
    }
    std::vector<plan::Plan> plans;
    for (const std::size_t i : kept) {
      plans.push_back(plans_[i]);
    }
    return plans;
  }

 private:
  /// Of each plan's epoch to the fastest one, in each scenario; infinite where it does not fit.
  std::vector<std::vector<double>> ratios_in(const std::vector<profiles::Profile>& scenarios) const {
    std::vector<std::vector<double>> ratios(plans_.size());
    for (const auto& scenario : scenarios) {
      double fastest_s = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        ratios[i].push_back(sim::predict_quickly(scenario, plans_[i]).epoch_s);
        fastest_s = std::min(fastest_s, ratios[i].back());
      }
      for (auto& of_plan : ratios) {
        of_plan.back() /= fastest_s;
      }
    }
    return ratios;
  }

  /// Plans that differ in their names only are one.
  void add(plan::Plan plan) {
    if (std::ranges::find(known_, plan::field_values(plan)) == known_.end()) {
      known_.push_back(plan::field_values(plan));
      plans_.push_back(std::move(plan));
    }
  }

  SpaceRequest request_;
  Space space_;
  std::vector<plan::Plan> plans_;
  std::vector<std::vector<double>> known_;
};

}  // namespace

std::vector<plan::Plan> contenders(const profiles::Profile& profile, const TuningOptions& options,
                                   std::size_t max_plans) {
  auto shorter = profile;
  shorter.workload.batches = std::min(profile.workload.batches, searched_batches);
  const auto scenarios = scenarios_of(shorter);
  try {
    Contenders found(shorter, options);
    found.search(shorter);
    for (const auto& scenario : scenarios) {
      found.climb(scenario);
    }
    return found.closest(scenarios, max_plans);
  } catch (const NoPlans&) {
    return {};
  }
}

}  // namespace gnomon::tuner
