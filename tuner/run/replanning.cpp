#include "tuner/run/replanning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/doubling.h"
#include "base/error.h"
#include "plan/abilities.h"
#include "plan/exactness.h"
#include "sim/predict.h"
#include "tuner/run/profile_checks.h"
#include "tuner/run/turns.h"
#include "tuner/sensitivity.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;
using profiles::Correction;
using profiles::Corrections;

constexpr std::array corrected{&Corrections::cpu_batch, &Corrections::transfer, &Corrections::device_batch,
                               &Corrections::train};

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

/// The factors of stages without a correction in `now`: those of `before`, scaled by the mean change of the
/// other stages.
Corrections completed(Corrections now, const Corrections& before) {
  double logs = 0;
  int known = 0;
  for (const auto stage : corrected) {
    if (now.*stage) {
      logs += std::log(profiles::ratio_of(now.*stage) / profiles::ratio_of(before.*stage));
      ++known;
    }
  }
  for (const auto stage : corrected) {
    if (!(now.*stage) && known > 0) {
      const double ratio = profiles::ratio_of(before.*stage) * std::exp(logs / known);
      now.*stage = Correction{.ratio = ratio, .standard_error = ratio / 2};
    }
  }
  return now;
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
  constexpr double most_lost = 0.02;
  const std::int64_t epoch = profile_.workload.batches;
  const double batch_s = predicted_s(plan_, epoch) / static_cast<double>(epoch);
  stretch_s_.clear();
  stretch_batches_ = 8;
  const auto is_short = [&] {
    const double steady_s = static_cast<double>(stretch_batches_) * batch_s;
    return steady_s < terms_.stretch_s || stretch_s(stretch_batches_) * (1 - most_lost) > steady_s;
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
  recent_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
  if (std::ssize(recent_) > terms_.drifted_stretches) {
    recent_.erase(recent_.begin());
  }
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

/// The candidates by the current profile: plan_, then the best plan of each schedule and route, and the best
/// overall.
std::vector<Plan> Replanner::candidates() const {
  constexpr std::size_t most = 5;
  std::vector<std::pair<double, const Plan*>> ranked;
  for (const Plan& plan : plans_) {
    ranked.emplace_back(sim::predict_quickly(profile_, plan).epoch_s, &plan);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto kind = [](const Plan& plan) { return std::pair(plan.schedule, plan.route); };
  std::vector<Plan> chosen{plan_};
  const auto choose = [&](const auto& key) {
    for (const auto& [epoch_s, plan] : ranked) {
      const bool is_known =
          std::any_of(chosen.begin(), chosen.end(), [&](const Plan& c) { return key(c) == key(*plan); });
      if (chosen.size() < most && std::isfinite(epoch_s) && !is_known) {
        chosen.push_back(*plan);
      }
    }
  };
  choose(kind);
  choose(key_of);
  return chosen;
}

void Replanner::compare_plans(double drift) {
  // Predictions for a changed machine may be far off, so the plans are compared by measured turns.
  constexpr double model_error = 0.3;
  profile_.corrections = completed(corrections_by(recent_, profile_, simulator_), at_first_);
  log_.push_back({.epoch = epoch_,
                  .batches = trained_,
                  .from = plan_.name,
                  .to = plan_.name,
                  .drift = drift,
                  .stages = *profile_.corrections});
  auto entrants = entrants_of(candidates(), profile_, simulator_, turn_batches_);
  RaceTerms race;
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
  race_.reset();
  recent_.clear();
  stretches_ = drifted_stretches_ = 0;
  measure_stretch();
}

void check_replanning(const profiles::Profile& profile, const graph::Graph& graph, const TrainingRun& run) {
  check_profile_of(profile, graph, run.job);
  if (profile.machine.device.kind != run.device.kind) {
    throw base::InputError("profile: machine.device.kind",
                           "\"" + std::string(base::name_of(profile.machine.device.kind)) +
                               "\" is not the training's \"" + std::string(base::name_of(run.device.kind)) +
                               "\"");
  }
  check_cores_of(profile);
  if (plan::exactness_of(run.plan) != plan::Exactness::bits || !run.replay.empty()) {
    throw base::InputError("plan \"" + run.plan.name + "\"",
                           run.replay.empty() ? "does not end with the same bits as other plans, so no other "
                                                "plan can take over; use one that is \"exact: bits\""
                                              : "follows a recorded order; leave out the replay");
  }
}

Stretches stretches_of(Replanner& replanner, const RunFiles& files,
                       const std::function<void(const Replanned&)>& on_replanned) {
  const auto on_stretch = [&replanner, files, on_replanned,
                           told = std::size_t{0}](const runtime::StretchReport& report) mutable {
    replanner.on_stretch(report);
    for (; told < replanner.finished(); ++told) {
      const auto& replanned = replanner.log()[told];
      if (replanned.is_change()) {
        base::write_document(files.plan(), replanner.plan());
      }
      base::write_file_atomically(files.replanning(), to_document(replanner.log()).dump(2) + "\n");
      if (on_replanned) {
        on_replanned(replanned);
      }
    }
  };
  return {[&replanner](std::int64_t left) { return replanner.next_stretch(left); }, on_stretch};
}

ReplannedTraining train_replanning(const graph::Graph& graph, TrainingRun run,
                                   const profiles::Profile& profile, const ReplanningTerms& terms,
                                   const std::function<void(const Replanned&)>& on_replanned) {
  check_replanning(profile, graph, run);
  Replanner replanner(profile, run.plan, run.job.epochs, terms);
  auto stretches = stretches_of(replanner, run.files, on_replanned);
  run.next_stretch = std::move(stretches.next);
  run.on_stretch = std::move(stretches.on_stretch);
  auto training = run_training(graph, run);
  return {std::move(training), replanner.log()};
}

base::Json to_document(const std::vector<Replanned>& log) {
  base::Json list = base::Json::array();
  for (const auto& replanned : log) {
    base::Json entry = {{"epoch", replanned.epoch + 1},
                        {"batches", replanned.batches},
                        {"from", replanned.from},
                        {"to", replanned.to},
                        {"drift", replanned.drift},
                        {"stages", base::write_value(replanned.stages)},
                        {"predicted_gain", replanned.predicted_gain},
                        {"turns", replanned.turns},
                        {"extra_s", replanned.extra_s}};
    if (replanned.gain) {
      entry["gain"] = *replanned.gain;
    }
    list.push_back(std::move(entry));
  }
  return {{"schema", "gnomon.replanning/1"}, {"comparisons", std::move(list)}};
}

}  // namespace gnomon::tuner
