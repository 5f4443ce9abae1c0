#include "tuner/run/verification.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "plan/regime.h"
#include "plan/rules.h"
#include "sim/predict.h"
#include "tuner/evidence/contenders.h"
#include "tuner/run/plan_changes.h"
#include "tuner/run/turns.h"
#include "tuner/search/candidate.h"
#include "tuner/search/preference.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t max_plans = 8;
constexpr double race_share = 0.05;  ///< maximum cost of a race as a share of the training, if it is long
constexpr int max_races = 3;         ///< the first one included

RaceTerms terms_of(const profiles::Profile& profile, const plan::Job& job) {
  RaceTerms terms;
  terms.epoch_batches = profile.workload.batches;
  terms.training_batches = profile.workload.batches * job.epochs;
  terms.max_share = std::max(terms.max_share, race_share * job.epochs);
  // Plans that are predicted from the same stage times share most of their errors.
  terms.model_error = profile.prediction_error.value_or(prediction_error / 2);
  return terms;
}

/// What plans have in common that are mispredicted alike: where they prepare and train, and on more threads
/// than there are cores or not.
auto kind_of(const plan::Plan& plan, const plan::Cores& cores) {
  return std::tuple(plan.route, plan.device_threads, plan.fused, plan.topology, plan.features,
                    plan.cache.is_used(), plan::threads_without_core(plan, cores) > 0);
}

/// The plans in their order, but at most two of a kind before the first of another.
std::vector<plan::Plan> of_many_kinds(std::vector<plan::Plan> plans, const plan::Cores& cores) {
  constexpr int of_a_kind = 2;
  std::map<decltype(kind_of(plans.front(), cores)), int> seen;
  std::stable_partition(plans.begin(), plans.end(),
                        [&](const plan::Plan& plan) { return seen[kind_of(plan, cores)]++ < of_a_kind; });
  return plans;
}

/// Those that may be the fastest by what the profile leaves uncertain.
std::vector<Candidate> uncertain_plans(const profiles::Profile& profile, const TuningOptions& options) {
  std::vector<Candidate> candidates;
  for (auto& plan : contenders(profile, options)) {
    auto prediction = sim::predict_quickly(profile, plan);
    candidates.push_back({std::move(plan), std::move(prediction)});
  }
  return candidates;
}

/// Of the plans to verify, those that are run first. If the profile's machine has several NUMA nodes, other
/// placements of the predicted plan replace the slowest of the others.
std::vector<plan::Plan> entering(const profiles::Profile& profile, std::vector<plan::Plan> plans) {
  const auto cores = profiles::cores_of(profile);
  std::vector<plan::Plan> placed;
  if (!plans.empty() && profile.machine.cpu.node_cores.size() > 1) {
    placed = placed_otherwise(plans.front(), cores);
  }
  plans = of_many_kinds(std::move(plans), cores);
  plans.resize(std::min(plans.size(), max_plans - placed.size()));
  plans.insert(plans.end(), placed.begin(), placed.end());
  return plans;
}

}  // namespace

std::vector<plan::Plan> placed_otherwise(const plan::Plan& plan, const plan::Cores& cores) {
  std::vector<plan::Plan> plans;
  for (const auto placement : {plan::Placement::first_touch, plan::Placement::interleave}) {
    for (const auto pinning : {plan::Pinning::none, plan::Pinning::cores}) {
      auto other = plan;
      other.placement = placement;
      other.pinning = pinning;
      other.name +=
          ", " + std::string(base::name_of(placement)) + (pinning == plan::Pinning::cores ? ", pinned" : "");
      const bool differs = placement != plan.placement || pinning != plan.pinning;
      if (differs && plan::violations(other).empty() &&
          plan::why_not_executed(other, plan::abilities_of(cores.device)).empty()) {
        plans.push_back(std::move(other));
      }
    }
  }
  return plans;
}

std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores,
                                        const std::vector<Candidate>& uncertain) {
  std::vector<Candidate> chosen;
  std::set<PlanKey> seen;
  const auto choose = [&](std::vector<Candidate> candidates) {
    std::stable_sort(candidates.begin(), candidates.end(), is_better);
    for (const auto& candidate : candidates) {
      if (std::isfinite(candidate.prediction.epoch_s) &&
          plan::exactness_of(candidate.plan) == plan::Exactness::bits &&
          plan::arrays_on_disk(candidate.plan) <= plan::arrays_on_disk(tuning.best().plan) &&
          plan::why_not_executed(candidate.plan, plan::abilities_of(cores.device)).empty() &&
          seen.insert(key_of(candidate.plan)).second) {
        chosen.push_back(candidate);
      }
    }
  };
  choose(tuning.candidates);  // the best of each kind, with the usual buffers
  auto others = tuning.found.evaluated;
  for (auto& other : others) {
    other.prediction.epoch_s /= tuning.searched_share;
  }
  choose(std::move(others));
  choose(uncertain);
  std::stable_sort(chosen.begin(), chosen.end(), is_better);
  if (!chosen.empty()) {
    const auto first = chosen.begin() + static_cast<std::ptrdiff_t>(preferred(chosen, cores));
    std::rotate(chosen.begin(), first, first + 1);
  }
  std::vector<plan::Plan> plans;
  for (const auto& candidate : chosen) {
    plans.push_back(candidate.plan);
  }
  return plans;
}

Verification::Verification(const profiles::Profile& profile, const Tuning& tuning, const plan::Job& job,
                           sim::Simulator& simulator)
    : profile_(profile),
      simulator_(simulator),
      others_(plans_to_verify(tuning, profiles::cores_of(profile), uncertain_plans(profile, tuning.options))),
      terms_(terms_of(profile, job)) {
  entrants_ = entrants_of(entering(profile, others_), profile, simulator, terms_.turn_batches);
  for (const auto& entrant : entrants_) {
    predicted_s_.push_back(entrant.epoch_s);
  }
  start_race();
}

/// Of entrants_.
void Verification::start_race() {
  std::erase_if(others_, [this](const plan::Plan& other) {
    return std::any_of(entrants_.begin(), entrants_.end(), [&](const Entrant& e) { return e.plan == other; });
  });
  race_.emplace(entrants_, terms_);
  ++races_;
}

runtime::Stretch Verification::next_stretch(std::int64_t left) {
  in_turn_ = !race_->is_over() && left >= terms_.turn_batches;
  return in_turn_ ? runtime::Stretch{race_->next().plan, terms_.turn_batches}
                  : runtime::Stretch{race_->best().plan, left};
}

void Verification::on_stretch(const runtime::StretchReport& report) {
  terms_.training_batches -= report.stretch.batches;
  if (!in_turn_) {
    race_->skip(report.stretch.batches);
    return;
  }
  if (race_->counts()) {
    runs_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
  }
  // Plans that go on keep their caches.
  race_->tell({report.log.seconds() - report.filling_s, relative_error(report.timeline)});
  if (race_->is_over() && races_ < max_races) {
    race_others();
  }
}

/// Lets the best plan so far, with its measured times, race plans that the corrected profile promises to be
/// faster. These predictions are trusted as far as that of the best plan was right.
void Verification::race_others() {
  const auto result = this->result();
  const auto& best = result.plans.front();
  if (!best.measured_s || others_.empty()) {
    return;
  }
  auto corrected = profile_;
  corrected.corrections = corrections();
  auto terms = terms_;
  auto entrants =
      entrants_of(promising_plans(corrected, others_, best.plan), corrected, simulator_, terms.turn_batches);
  std::erase_if(entrants,
                [&](const Entrant& e) { return e.plan != best.plan && e.epoch_s >= *best.measured_s; });
  if (entrants.size() < 2) {
    return;
  }
  entrants_ = std::move(entrants);
  predicted_s_ = {best.predicted_s};
  for (std::size_t e = 1; e < entrants_.size(); ++e) {
    predicted_s_.push_back(entrants_[e].epoch_s);
  }
  entrants_.front().turn_s *= *best.measured_s / entrants_.front().epoch_s;
  entrants_.front().epoch_s = *best.measured_s;
  terms.model_error = std::max(terms.model_error, std::abs(std::log(*best.measured_s / best.predicted_s)));
  terms_ = terms;
  earlier_ = result;
  start_race();
}

std::optional<profiles::Corrections> Verification::corrections() const {
  if (runs_.empty()) {
    return std::nullopt;
  }
  return corrections_by(runs_, profile_, simulator_);
}

VerificationResult Verification::result() const {
  VerificationResult result;
  result.best = best();
  for (const auto& [number, epoch_s, error, turns] : race_->standings()) {
    VerifiedPlan verified{.plan = entrants_[number].plan,
                          .predicted_s = predicted_s_[number],
                          .measured_s = {},
                          .relative_error = {},
                          .turns = turns};
    if (turns > 0) {
      verified.measured_s = epoch_s;
    }
    if (turns > 1) {
      verified.relative_error = error;
    }
    result.plans.push_back(std::move(verified));
  }
  for (const auto& before : earlier_.plans) {
    if (before.plan != entrants_.front().plan) {
      result.plans.push_back(before);
    }
  }
  result.turns = earlier_.turns + race_->num_turns();
  result.batches = earlier_.batches + terms_.turn_batches * race_->num_turns();
  result.seconds = earlier_.seconds + race_->seconds();
  result.extra_s = earlier_.extra_s + race_->extra_s();
  result.is_decided = race_->is_decided();
  result.tolerance = terms_.tolerance;
  result.error = terms_.error;
  return result;
}

base::Json to_document(const VerificationResult& result) {
  base::Json plans = base::Json::array();
  for (const auto& verified : result.plans) {
    base::Json entry = {{"plan", base::to_document(verified.plan)},
                        {"predicted_s", verified.predicted_s},
                        {"real_runs", verified.turns}};
    if (verified.measured_s) {
      entry["measured_s"] = *verified.measured_s;
    }
    if (verified.relative_error) {
      entry["relative_error"] = *verified.relative_error;
    }
    plans.push_back(std::move(entry));
  }
  return {
      {"best", result.best.name},      {"real_runs", result.turns},         {"real_batches", result.batches},
      {"seconds", result.seconds},     {"extra_s", result.extra_s},         {"decided", result.is_decided},
      {"tolerance", result.tolerance}, {"error_probability", result.error}, {"plans", plans}};
}

}  // namespace gnomon::tuner
