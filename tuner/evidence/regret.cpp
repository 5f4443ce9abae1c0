#include "tuner/evidence/regret.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "profiles/beliefs.h"
#include "sim/predict.h"

namespace gnomon::tuner {
namespace {

/// Epochs are compared, and most of them repeat the same period.
constexpr std::int64_t compared_batches = 64;

/// Deviations within which an epoch's logarithm is as good as linear.
constexpr double straight_deviation = 0.11;

std::vector<double> epochs_of(const profiles::Profile& profile, const std::vector<plan::Plan>& plans) {
  std::vector<double> seconds;
  for (const auto& plan : plans) {
    seconds.push_back(sim::predict_quickly(profile, plan).epoch_s);
  }
  return seconds;
}

double log_ratio(double changed_s, double before_s) {
  return std::isfinite(before_s) && std::isfinite(changed_s) && before_s > 0 ? std::log(changed_s / before_s)
                                                                             : 0;
}

/// Draws of a standard normal distribution in antithetic pairs (Box and Muller, 1958), scaled to variance 1.
template <std::size_t count>
std::array<double, count> normal_draws(base::RandomStream& random) {
  std::array<double, count> draws{};
  double squares = 0;
  for (std::size_t i = 0; i < count / 2; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    draws[i] = radius * std::cos(2 * std::numbers::pi * random.uniform());
    draws[count - 1 - i] = -draws[i];
    squares += 2 * draws[i] * draws[i];
  }
  for (double& draw : draws) {
    draw /= std::sqrt(squares / static_cast<double>(count));
  }
  return draws;
}

}  // namespace

Effects effects_of(const profiles::Profile& profile, const std::vector<plan::Plan>& plans) {
  auto changed = profile;
  changed.workload.batches = std::min(profile.workload.batches, compared_batches);
  Effects effects{epochs_of(changed, plans), {}};
  const auto quantities = profiles::quantities_of(profile);
  for (const auto& belief : profile.beliefs) {
    auto& changes = effects.by_belief.emplace_back(plans.size());
    const auto* const quantity = profiles::find_quantity(quantities, belief.of);
    if (quantity == nullptr || belief.deviation <= 0) {
      continue;
    }
    const double median = quantity->of(changed);
    const auto at = [&](double deviations) {
      quantity->of(changed) = median * std::exp(deviations * belief.deviation);
      return epochs_of(changed, plans);
    };
    const bool is_straight = belief.deviation < straight_deviation;
    const auto above = at(1);
    const auto below = is_straight ? above : at(-1);
    quantity->of(changed) = median;
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
      const double up = log_ratio(above[plan], effects.epoch_s[plan]);
      changes[plan] = {is_straight ? -up : log_ratio(below[plan], effects.epoch_s[plan]), up};
    }
  }
  const double share =
      static_cast<double>(profile.workload.batches) / static_cast<double>(changed.workload.batches);
  for (double& epoch_s : effects.epoch_s) {
    epoch_s *= share;
  }
  return effects;
}

RegretModel::RegretModel(Effects effects, std::uint64_t seed) : effects_(std::move(effects)) {
  base::RandomStream random({.seed = seed, .purpose = base::Purpose::simulate, .epoch = 3});
  for (std::size_t belief = 0; belief < effects_.by_belief.size(); ++belief) {
    draws_.push_back(normal_draws<num_draws>(random));
  }
  const std::size_t plans = effects_.epoch_s.size();
  mean_s_.resize(plans);
  std::array<double, num_draws> fastest_s{};
  fastest_s.fill(std::numeric_limits<double>::infinity());
  for (std::size_t plan = 0; plan < plans; ++plan) {
    for (std::size_t draw = 0; draw < num_draws; ++draw) {
      double log = 0;
      for (std::size_t belief = 0; belief < draws_.size(); ++belief) {
        log += change(belief, plan, draws_[belief][draw]);
      }
      const double seconds = effects_.epoch_s[plan] * std::exp(log);
      mean_s_[plan] += seconds / num_draws;
      fastest_s[draw] = std::min(fastest_s[draw], seconds);
    }
  }
  best_ = static_cast<std::size_t>(std::ranges::min_element(mean_s_) - mean_s_.begin());
  regret_s_ = mean_s_[best_] - std::accumulate(fastest_s.begin(), fastest_s.end(), 0.0) / num_draws;
}

/// The parabola through the changes at -1, 0 and 1 standard deviations; a line beyond them.
double RegretModel::change(std::size_t belief, std::size_t plan, double deviations) const {
  const auto& [below, above] = effects_.by_belief[belief][plan];
  const double slope = (above - below) / 2;
  const double curve = (above + below) / 2;
  const double inner = std::clamp(deviations, -1.0, 1.0);
  return slope * inner + curve * inner * inner + (slope + 2 * curve * inner) * (deviations - inner);
}

double RegretModel::value_s(std::span<const Informed> informed) const {
  std::array<double, num_draws> fastest_s{};
  fastest_s.fill(std::numeric_limits<double>::infinity());
  for (std::size_t plan = 0; plan < mean_s_.size(); ++plan) {
    std::array<double, num_draws> times{};
    double mean = 0;
    for (std::size_t draw = 0; draw < num_draws; ++draw) {
      double log = 0;
      for (const auto& [belief, left] : informed) {
        const double resolved = std::sqrt(std::max(0.0, 1 - left * left));
        log += change(belief, plan, resolved * draws_[belief][draw]);
      }
      times[draw] = std::exp(log);
      mean += times[draw] / num_draws;
    }
    for (std::size_t draw = 0; draw < num_draws; ++draw) {
      fastest_s[draw] = std::min(fastest_s[draw], mean_s_[plan] * times[draw] / mean);
    }
  }
  const double expected_s = std::accumulate(fastest_s.begin(), fastest_s.end(), 0.0) / num_draws;
  return std::max(0.0, mean_s_[best_] - expected_s);
}

}  // namespace gnomon::tuner
