#include "sim/uncertainty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/normal.h"
#include "profiles/beliefs.h"
#include "sim/predict.h"

namespace gnomon::sim {
namespace {

using profiles::ScalingPoint;
using profiles::StageTime;
using profiles::WorkloadProfile;

struct NamedStage {
  const char* name;
  StageTime WorkloadProfile::*time;
};

/// Relative half width of a confidence interval above which a stage time is unusable.
constexpr double worthless_interval = 2;

constexpr std::array<NamedStage, 4> stages{{{"CPU preparation", &WorkloadProfile::cpu_batch},
                                            {"transfer", &WorkloadProfile::transfer},
                                            {"device preparation", &WorkloadProfile::device_batch},
                                            {"training", &WorkloadProfile::train}}};

constexpr std::array<std::vector<ScalingPoint> WorkloadProfile::*, 5> speedups{
    {&WorkloadProfile::worker_efficiency, &WorkloadProfile::cpu_batch_speedup,
     &WorkloadProfile::cpu_sample_speedup, &WorkloadProfile::train_speedup,
     &WorkloadProfile::device_batch_speedup}};

bool has_interval(const profiles::Profile& profile) {
  return std::any_of(stages.begin(), stages.end(),
                     [&](const NamedStage& stage) { return (profile.workload.*stage.time).interval_s > 0; });
}

/// Makes every speed-up lower by its own half width. Returns whether any of them has one.
bool slow_down(std::vector<ScalingPoint>& points) {
  bool any = false;
  for (ScalingPoint& point : points) {
    if (point.interval.value_or(0) > 0) {
      point.value /= 1 + *point.interval;
      any = true;
    }
  }
  return any;
}

/// Whether the profile states the interval of a number itself: of a stage's time, or of a point of speed-ups
/// after a move to other cores.
bool has_own_interval(const profiles::Profile& profile, const profiles::Quantity& quantity) {
  if (quantity.kind == profiles::QuantityKind::stage_time) {
    return true;
  }
  const auto* const point = quantity.point ? quantity.point(profile) : nullptr;
  return point != nullptr && point->interval.value_or(0) > 0;
}

/// The changes of one plan's epoch with the profile.
class Changes {
 public:
  Changes(const profiles::Profile& profile, const plan::Plan& plan)
      : profile_(profile), plan_(plan), epoch_s_(predict_quickly(profile, plan).epoch_s) {}

  double epoch_s() const { return epoch_s_; }

  double of(const profiles::Profile& changed) const {
    return predict_quickly(changed, plan_).epoch_s - epoch_s_;
  }

  double of_stage(StageTime WorkloadProfile::*time, double longer_s) const {
    auto changed = profile_;
    (changed.workload.*time).mean_s += longer_s;
    return of(changed);
  }

  /// Whether the epoch depends on a stage: a tenth more of it is more than a thousandth of the epoch. What is
  /// hidden still shows in the first or last mini-batch.
  bool depends_on(StageTime WorkloadProfile::*time) const {
    return of_stage(time, 0.1 * (profile_.workload.*time).mean_s) > 1e-3 * epoch_s_;
  }

  double of_speedups(std::vector<ScalingPoint> WorkloadProfile::*points) const {
    auto changed = profile_;
    return slow_down(changed.workload.*points) ? of(changed) : 0;
  }

  /// If the learned correction of a stage is off by the half width of its 95 % interval.
  double of_learned(std::optional<profiles::Correction> profiles::Corrections::*stage) const {
    auto changed = profile_;
    if (!changed.learned) {
      return 0;
    }
    for (auto& regime : changed.learned->regimes) {
      if (auto& correction = regime.stages.*stage) {
        correction->ratio += base::normal_half_width * correction->standard_error;
      }
    }
    return of(changed);
  }

  /// If a number is off by the half width of its 95 % interval, in the direction that changes the epoch more.
  double of_belief(const profiles::Quantity& quantity, double deviation) const {
    const auto of_factor = [&](double factor) {
      auto changed = profile_;
      quantity.of(changed) *= factor;
      return of(changed);
    };
    const double factor = std::exp(base::normal_half_width * deviation);
    const double up_s = of_factor(factor);
    const double down_s = of_factor(1 / factor);
    return std::abs(up_s) > std::abs(down_s) ? up_s : -down_s;
  }

 private:
  const profiles::Profile& profile_;
  const plan::Plan& plan_;
  double epoch_s_;
};

}  // namespace

std::optional<EpochErrors> epoch_errors(const profiles::Profile& profile, const plan::Plan& plan) {
  if (!has_interval(profile)) {
    return std::nullopt;
  }
  const Changes changes(profile, plan);
  if (!std::isfinite(changes.epoch_s())) {
    return std::nullopt;
  }
  EpochErrors errors;
  errors.epoch_s = changes.epoch_s();
  errors.of_model_s = base::normal_half_width * profile.prediction_error.value_or(0) * changes.epoch_s();
  for (const auto& stage : stages) {
    const StageTime& time = profile.workload.*stage.time;
    if (time.mean_s > 0 && time.interval_s == 0 && changes.depends_on(stage.time)) {
      return std::nullopt;
    }
    errors.by_source_s.push_back(time.interval_s > 0 ? changes.of_stage(stage.time, time.interval_s) : 0);
  }
  for (const auto points : speedups) {
    errors.by_source_s.push_back(changes.of_speedups(points));
  }
  for (const auto stage : profiles::all_corrections) {
    errors.by_source_s.push_back(changes.of_learned(stage));
  }
  const auto quantities = profiles::quantities_of(profile);
  for (const auto& belief : profile.beliefs) {
    const auto* const quantity = profiles::find_quantity(quantities, belief.of);
    const bool counts =
        quantity != nullptr && quantity->is_known(profile) && !has_own_interval(profile, *quantity);
    errors.by_source_s.push_back(counts ? changes.of_belief(*quantity, belief.deviation) : 0);
  }
  return errors;
}

double interval_s(const EpochErrors& errors) {
  double squares = std::pow(errors.of_model_s, 2);
  for (const double change_s : errors.by_source_s) {
    squares += std::pow(change_s, 2);
  }
  return std::sqrt(squares);
}

double difference_interval_s(const EpochErrors& one, const EpochErrors& other) {
  double squares = std::pow(one.of_model_s, 2) + std::pow(other.of_model_s, 2);
  for (std::size_t source = 0; source < one.by_source_s.size(); ++source) {
    squares += std::pow(one.by_source_s[source] - other.by_source_s.at(source), 2);
  }
  return std::sqrt(squares);
}

std::optional<double> epoch_interval_s(const profiles::Profile& profile, const plan::Plan& plan) {
  const auto errors = epoch_errors(profile, plan);
  return errors ? std::optional(interval_s(*errors)) : std::nullopt;
}

void check_precision(const profiles::Profile& profile, const std::string& where) {
  for (const auto& [name, member] : stages) {
    const StageTime& time = profile.workload.*member;
    if (time.mean_s > 0 && time.interval_s >= worthless_interval * time.mean_s) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s took %.3g s ± %.0f %% in %lld samples: too uncertain to predict with", name,
                    time.mean_s, 100 * time.interval_s / time.mean_s, static_cast<long long>(time.samples));
      throw base::InputError(where, std::string(text) +
                                        "; measure again with a longer --time-limit of gnomon "
                                        "profile, or of gnomon machine if the profile was moved");
    }
  }
}

}  // namespace gnomon::sim
