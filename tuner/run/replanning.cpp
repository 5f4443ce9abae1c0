#include "tuner/run/replanning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/predict.h"
#include "tuner/run/plan_changes.h"
#include "tuner/run/turns.h"
#include "tuner/sensitivity.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;
using profiles::Correction;
using profiles::Corrections;

/// The factors of stages without a correction in `now`: those of `before`, scaled by the mean change of the
/// other stages.
Corrections completed(Corrections now, const Corrections& before) {
  double logs = 0;
  int known = 0;
  for (const auto& [_, correction] : corrected_stages) {
    if (now.*correction) {
      logs += std::log(profiles::ratio_of(now.*correction) / profiles::ratio_of(before.*correction));
      ++known;
    }
  }
  for (const auto& [_, correction] : corrected_stages) {
    if (!(now.*correction) && known > 0) {
      const double ratio = profiles::ratio_of(before.*correction) * std::exp(logs / known);
      now.*correction = Correction{.ratio = ratio, .standard_error = ratio / 2};
    }
  }
  return now;
}

}  // namespace

Replanner::Replanner(profiles::Profile profile, const Plan& first, std::int64_t epochs,
                     const ReplanningTerms& terms)
    : profile_(std::move(profile)),
      at_first_(profile_.corrections.value_or(Corrections{})),
      terms_(terms),
      plans_(plans_to_change_to(first, profiles::cores_of(profile_))),
      plan_(first),
      left_(profile_.workload.batches * epochs),
      compared_after_(terms.compared_after) {
  measure_stretch();
}

double Replanner::predicted_s(const Plan& plan, std::int64_t batches) {
  return sim::predict(simulator_, shortened(profile_, batches), plan).epoch_s;
}

/// Cached by number of mini-batches, because the training waits meanwhile.
double Replanner::stretch_s(std::int64_t batches) {
  const auto [place, is_new] = stretch_s_.try_emplace(batches, 0);
  if (is_new) {
    place->second = predicted_s(plan_, batches);
  }
  return place->second;
}

/// Sets the number of mini-batches of a stretch such that filling and draining the pipeline take at most 2 %
/// of it.
void Replanner::measure_stretch() {
  constexpr double max_loss = 0.02;
  const std::int64_t epoch = profile_.workload.batches;
  const double batch_s = predicted_s(plan_, epoch) / static_cast<double>(epoch);
  stretch_s_.clear();
  stretch_batches_ = 8;
  const auto is_short = [&] {
    const double steady_s = static_cast<double>(stretch_batches_) * batch_s;
    return steady_s < terms_.stretch_s || stretch_s(stretch_batches_) * (1 - max_loss) > steady_s;
  };
  while (stretch_batches_ < epoch && is_short()) {
    stretch_batches_ += stretch_batches_ / 2;
  }
}

runtime::Stretch Replanner::next_stretch(std::int64_t left) {
  in_turn_ = race_ && left >= turn_batches_;
  if (in_turn_) {
    return {race_->next().plan, turn_batches_};
  }
  return {plan_, left < 2 * stretch_batches_ ? left : stretch_batches_};
}

void Replanner::on_stretch(const runtime::StretchReport& report) {
  trained_ = (report.epoch == epoch_ ? trained_ : 0) + report.stretch.batches;
  epoch_ = report.epoch;
  left_ -= report.stretch.batches;
  if (in_turn_) {
    race_->tell({report.log.seconds(), relative_error(report.timeline)});
    if (race_->is_over()) {
      end_race();
    }
  } else if (race_) {
    race_->skip(report.stretch.batches);
  } else {
    follow(report);
  }
}

void Replanner::follow(const runtime::StretchReport& report) {
  if (++stretches_ == 1) {
    return;  // warms up
  }
  remember(report);
  const double drift = report.log.seconds() / (expected_ * stretch_s(report.stretch.batches));
  drifted_stretches_ = std::abs(std::log(drift)) > std::log1p(terms_.drift) ? drifted_stretches_ + 1 : 0;
  const bool has_changed = std::any_of(log_.begin(), log_.end(), [](const auto& r) { return r.is_change(); });
  if (drifted_stretches_ >= terms_.drifted_stretches) {
    compared_after_ = terms_.compared_after;
    compare_plans(drift);
  } else if (has_changed && stretches_ > compared_after_) {
    compared_after_ *= 2;
    compare_plans(drift);
  }
}

/// Keeps the last stretches, and tells what a change brought as soon as there are enough of them.
void Replanner::remember(const runtime::StretchReport& report) {
  recent_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
  recent_s_.push_back(report.log.seconds());
  if (std::ssize(recent_) > terms_.drifted_stretches) {
    recent_.erase(recent_.begin());
    recent_s_.erase(recent_s_.begin());
  }
  if (is_effect_awaited_ && std::ssize(recent_) == terms_.drifted_stretches) {
    log_.back().after_batch_s = recent_batch_s();
    is_effect_awaited_ = false;
  }
}

double Replanner::recent_batch_s() const {
  std::int64_t batches = 0;
  for (const RealRun& run : recent_) {
    batches += run.batches;
  }
  return std::accumulate(recent_s_.begin(), recent_s_.end(), 0.0) / static_cast<double>(batches);
}

std::size_t Replanner::known_effects() const {
  return static_cast<std::size_t>(std::count_if(
      log_.begin(), log_.end(), [](const Replanned& each) { return each.brought().has_value(); }));
}

void Replanner::compare_plans(double drift) {
  // Predictions for a changed machine may be far off, so the plans are compared by measured turns.
  constexpr double model_error = 0.3;
  profile_.corrections = completed(corrections_by(recent_, profile_, simulator_), at_first_);
  log_.push_back({.epoch = epoch_ + 1,
                  .batches = trained_,
                  .from = plan_.name,
                  .to = plan_.name,
                  .drift = drift,
                  .stages = *profile_.corrections,
                  .before_batch_s = recent_batch_s()});
  auto entrants = entrants_of(promising_plans(profile_, plans_, plan_), profile_, simulator_, turn_batches_);
  RaceTerms race;
  race.min_turn_s = 0;  // as long as the stretches that were compared
  race.epoch_batches = profile_.workload.batches;
  race.training_batches = left_;
  race.turn_batches = turn_batches_;
  race.model_error = model_error;
  race_.emplace(std::move(entrants), race);
  if (race_->is_over()) {
    end_race();
  }
}

/// Continues with the best plan, or with the previous one if that is hardly worse.
void Replanner::end_race() {
  auto& told = log_.back();
  const auto standings = race_->standings();  // in descending order; entrant 0 is the previous plan
  const auto before =
      std::find_if(standings.begin(), standings.end(), [](const auto& s) { return s.entrant == 0; });
  const double gain = 1 - standings.front().epoch_s / before->epoch_s;
  const bool is_worth = gain >= terms_.min_gain;
  const auto& taken = is_worth ? standings.front() : *before;
  const double predicted_before_s = predicted_s(plan_, profile_.workload.batches);
  plan_ = is_worth ? race_->best().plan : plan_;
  const double predicted_taken_s = predicted_s(plan_, profile_.workload.batches);
  expected_ = taken.turns > 0 ? taken.epoch_s / predicted_taken_s : 1;
  told.to = plan_.name;
  told.predicted_gain = 1 - predicted_taken_s / predicted_before_s;
  told.turns = race_->num_turns();
  told.extra_s = race_->extra_s();
  if (is_worth && taken.turns > 0) {
    told.gain = gain;
  }
  is_effect_awaited_ = told.is_change();
  if (!told.is_change()) {
    told.before_batch_s.reset();
  }
  race_.reset();
  recent_.clear();
  recent_s_.clear();
  stretches_ = drifted_stretches_ = 0;
  measure_stretch();
}

}  // namespace gnomon::tuner
