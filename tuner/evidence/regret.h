#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// How the predicted epochs of some plans depend on what is believed of a profile's numbers, each by itself:
/// the logarithm of an epoch is its value at the medians plus one term for each belief.
struct Effects {
  /// Changes of an epoch's logarithm if a number is one standard deviation below and above its median.
  struct Change {
    double below = 0;
    double above = 0;
  };
  std::vector<double> epoch_s;                 ///< of each plan, at the medians
  std::vector<std::vector<Change>> by_belief;  ///< [belief][plan]
};

/// Predicts the plans by sim::predict_quickly, for each belief of the profile twice. Plans that do not fit in
/// memory have infinite epochs and no changes. Beliefs of names that are no quantity of the profile change
/// nothing.
Effects effects_of(const profiles::Profile& profile, const std::vector<plan::Plan>& plans);

/// A belief, by its index, and the standard deviation that a measurement leaves, over the present one.
struct Informed {
  std::size_t belief = 0;
  double left = 0;
};

/// The regret of choosing a plan by beliefs: how much longer its epoch is expected to be than that of the
/// plan that is fastest in truth, and what a measurement is expected to change about it (the knowledge
/// gradient of correlated beliefs: Frazier, Powell and Dayanik, INFORMS Journal on Computing 21(4), 2009; the
/// expectation over the other beliefs is as in Strong, Oakley and Brennan, Medical Decision Making 34(3),
/// 2014). Computed from draws of the beliefs, the same ones each time.
class RegretModel {
 public:
  /// Precondition: a plan has a finite epoch.
  explicit RegretModel(Effects effects, std::uint64_t seed = 0);

  /// The plan with the shortest expected epoch.
  std::size_t best() const { return best_; }
  double expected_epoch_s(std::size_t plan) const { return mean_s_[plan]; }
  /// Of choosing best(), in seconds of an epoch.
  double regret_s() const { return regret_s_; }
  double relative_regret() const { return regret_s_ / mean_s_[best_]; }
  /// How much shorter the epoch of the chosen plan is expected to be if these beliefs are measured before the
  /// choice, in seconds: at most regret_s().
  double value_s(std::span<const Informed> informed) const;

 private:
  static constexpr std::size_t num_draws = 256;

  double change(std::size_t belief, std::size_t plan, double deviations) const;

  Effects effects_;
  std::vector<std::array<double, num_draws>> draws_;  ///< [belief], standard normal
  std::vector<double> mean_s_;
  std::size_t best_ = 0;
  double regret_s_ = 0;
};

}  // namespace gnomon::tuner
