#include "tuner/run/verification.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "plan/rules.h"
#include "tuner/run/turns.h"
#include "tuner/search/candidate.h"
#include "tuner/search/preference.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t max_plans = 6;
constexpr double race_share = 0.01;  ///< maximum cost of a race as a share of the training, if it is long

RaceTerms terms_of(const profiles::Profile& profile, const plan::Job& job, std::int64_t turn_batches) {
  RaceTerms terms;
  terms.epoch_batches = profile.workload.batches;
  terms.training_batches = profile.workload.batches * job.epochs;
  terms.turn_batches = turn_batches;
  terms.max_share = std::max(terms.max_share, race_share * job.epochs);
  terms.model_error = profile.prediction_error.value_or(terms.model_error);
  return terms;
}

/// The plans to run for real on the profile's machine. If it has several NUMA nodes, other placements of the
/// predicted plan replace the slowest of the others.
std::vector<plan::Plan> entering(const profiles::Profile& profile, const Tuning& tuning) {
  const auto cores = profiles::cores_of(profile);
  auto plans = plans_to_verify(tuning, cores);
  if (plans.empty() || profile.machine.cpu.node_cores.size() < 2) {
    return plans;
  }
  const auto placed = placed_otherwise(plans.front(), cores);
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

std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores) {
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
  std::stable_sort(chosen.begin(), chosen.end(), is_better);
  if (!chosen.empty()) {
    const auto first = chosen.begin() + static_cast<std::ptrdiff_t>(preferred(chosen, cores));
    std::rotate(chosen.begin(), first, first + 1);
  }
  chosen.resize(std::min(chosen.size(), max_plans));
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
      entrants_(entrants_of(entering(profile, tuning), profile, simulator, turn_batches_)),
      race_(entrants_, terms_of(profile, job, turn_batches_)) {}

runtime::Stretch Verification::next_stretch(std::int64_t left) {
  in_turn_ = !race_.is_over() && left >= turn_batches_;
  return in_turn_ ? runtime::Stretch{race_.next().plan, turn_batches_}
                  : runtime::Stretch{race_.best().plan, left};
}

void Verification::on_stretch(const runtime::StretchReport& report) {
  if (!in_turn_) {
    race_.skip(report.stretch.batches);
    return;
  }
  if (race_.counts()) {
    runs_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
  }
  // Plans that go on keep their caches.
  race_.tell({report.log.seconds() - report.filling_s, relative_error(report.timeline)});
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
  for (const auto& [number, epoch_s, error, turns] : race_.standings()) {
    VerifiedPlan verified{.plan = entrants_[number].plan,
                          .predicted_s = entrants_[number].epoch_s,
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
  result.turns = race_.num_turns();
  result.turn_batches = turn_batches_;
  result.seconds = race_.seconds();
  result.extra_s = race_.extra_s();
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
  return {{"best", result.best.name},  {"real_runs", result.turns}, {"real_batches", result.batches()},
          {"seconds", result.seconds}, {"extra_s", result.extra_s}, {"plans", plans}};
}

}  // namespace gnomon::tuner
