#include "apps/compute/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "apps/format.h"
#include "apps/table.h"
#include "profiles/measure/statistics.h"
#include "tuner/search/preference.h"
#include "tuner/sensitivity.h"

namespace gnomon::apps {
namespace {

constexpr std::size_t most_plans = 6;

/// What tells plans apart by more than a few percent, and may be for the better.
auto essence_of(const plan::Plan& plan) {
  return std::tuple(plan.schedule, plan.route, plan.workers, plan.device_threads);
}

double predicted_s(sim::Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   std::int64_t batches) {
  return sim::predict(simulator, tuner::shortened(profile, batches), plan).epoch_s;
}

/// Each with its predicted epoch; pieces are set when their length is known.
std::vector<tuner::Entrant> entrants_of(const Tuning& tuning, const profiles::Profile& profile,
                                        sim::Simulator& simulator) {
  std::vector<tuner::Entrant> entrants;
  for (const auto& plan : plans_to_verify(tuning, profiles::cores_of(profile))) {
    entrants.push_back({plan, predicted_s(simulator, profile, plan, profile.workload.batches), 0});
  }
  return entrants;
}

/// The longest that any of them asks for; sets their predicted time.
std::int64_t set_pieces(std::vector<tuner::Entrant>& entrants, const profiles::Profile& profile,
                        sim::Simulator& simulator) {
  std::int64_t piece = 1;
  for (const auto& entrant : entrants) {
    const auto needed = tuner::piece_of(profile.workload.batches, entrant.epoch_s, [&](std::int64_t batches) {
      return predicted_s(simulator, profile, entrant.plan, batches);
    });
    piece = std::max(piece, needed);
  }
  for (auto& entrant : entrants) {
    entrant.piece_s = predicted_s(simulator, profile, entrant.plan, piece);
  }
  return piece;
}

tuner::RaceTerms terms_of(const profiles::Profile& profile, const plan::Job& job, std::int64_t piece) {
  tuner::RaceTerms terms;
  terms.epoch_batches = profile.workload.batches;
  terms.training_batches = profile.workload.batches * job.epochs;
  terms.piece = piece;
  return terms;
}

/// By the times from update to update.
double relative_error(const std::vector<schedule::StageSpan>& timeline) {
  std::vector<double> ends;
  for (const auto& span : timeline) {
    if (span.stage == schedule::Stage::train) {
      ends.push_back(span.end_s);
    }
  }
  profiles::Series steps;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    steps.add(ends[i] - ends[i - 1]);
  }
  return steps.count() < 2 ? 0 : steps.deviation() / steps.mean() / std::sqrt(steps.count());
}

}  // namespace

std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores) {
  std::vector<tuner::Candidate> chosen;
  std::set<decltype(essence_of(plan::Plan{}))> seen;
  const auto choose = [&](std::vector<tuner::Candidate> candidates) {
    std::stable_sort(candidates.begin(), candidates.end(), tuner::is_better);
    for (const auto& candidate : candidates) {
      if (std::isfinite(candidate.prediction.epoch_s) && plan::trains_in_order(candidate.plan) &&
          plan::why_not_executed(candidate.plan, plan::abilities_of(cores.device)).empty() &&
          seen.insert(essence_of(candidate.plan)).second) {
        chosen.push_back(candidate);
      }
    }
  };
  choose(tuning.candidates);  // the best of their kind, with the usual buffers
  auto others = tuning.found.evaluated;
  for (auto& other : others) {
    other.prediction.epoch_s /= tuning.searched_share;
  }
  choose(std::move(others));
  std::stable_sort(chosen.begin(), chosen.end(), tuner::is_better);
  if (!chosen.empty()) {
    const auto first = chosen.begin() + static_cast<std::ptrdiff_t>(tuner::preferred(chosen, cores));
    std::rotate(chosen.begin(), first, first + 1);
  }
  chosen.resize(std::min(chosen.size(), most_plans));
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
      entrants_(entrants_of(tuning, profile, simulator)),
      piece_(set_pieces(entrants_, profile, simulator)),
      race_(entrants_, terms_of(profile, job, piece_)) {}

runtime::Stretch Verification::next_stretch(std::int64_t left) {
  in_piece_ = !race_.is_over() && left >= piece_;
  return in_piece_ ? runtime::Stretch{race_.next().plan, piece_} : runtime::Stretch{race_.best().plan, left};
}

void Verification::on_stretch(const runtime::StretchReport& report) {
  if (!in_piece_) {
    race_.skip(report.stretch.batches);
    return;
  }
  if (race_.counts()) {
    runs_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
  }
  race_.tell({report.log.seconds(), relative_error(report.timeline)});
}

std::optional<profiles::Corrections> Verification::corrections() {
  if (runs_.empty()) {
    return std::nullopt;
  }
  return tuner::corrections_by(runs_, profile_, simulator_);
}

std::string Verification::text() const {
  if (race_.pieces() == 0) {
    return "no plan was verified: the training is too short, or the predictions too far apart, to repay it\n";
  }
  Table table({"plan", "schedule", "workers", "threads", "predicted", "measured", "+-", "real runs"});
  for (const auto& [number, epoch_s, error, pieces] : race_.standings()) {
    const auto& [plan, predicted, piece_s] = entrants_[number];
    table.add_row({plan.name, std::string(base::name_of(plan.schedule)), std::to_string(plan.workers),
                   std::to_string(plan.device_threads), format_seconds(predicted),
                   pieces > 0 ? format_seconds(epoch_s) : "-", pieces > 1 ? format_percent(error) : "-",
                   std::to_string(pieces)});
  }
  return table.text() + fmt::format("{} real runs of {} mini-batches, which are the first of the training\n",
                                    race_.pieces(), piece_);
}

base::Json Verification::document() const {
  base::Json plans = base::Json::array();
  for (const auto& [number, epoch_s, error, pieces] : race_.standings()) {
    base::Json entry = {{"plan", base::to_document(entrants_[number].plan)},
                        {"predicted_s", entrants_[number].epoch_s},
                        {"real_runs", pieces}};
    if (pieces > 0) {
      entry["measured_s"] = epoch_s;
    }
    if (pieces > 1) {
      entry["relative_error"] = error;
    }
    plans.push_back(std::move(entry));
  }
  return {{"best", best().name},        {"real_runs", race_.pieces()}, {"real_batches", real_batches()},
          {"seconds", race_.seconds()}, {"extra_s", race_.extra_s()},  {"plans", plans}};
}

}  // namespace gnomon::apps
