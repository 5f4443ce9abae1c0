#include "tuner/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/stop.h"
#include "plan/exactness.h"
#include "tuner/search/journal.h"
#include "tuner/search/pareto.h"
#include "tuner/search/point_facts.h"
#include "tuner/search/preference.h"
#include "tuner/tuning_request.h"

namespace gnomon::tuner {
namespace {

/// The plans that fit in memory and respect the limits.
std::vector<Candidate> possible(std::vector<Candidate> candidates) {
  std::erase_if(candidates, [](const Candidate& c) { return !std::isfinite(c.prediction.epoch_s); });
  return candidates;
}

/// The preferred candidate, then the fastest of each other name and exactness, in ascending order of epochs.
std::vector<Candidate> finalists(std::vector<Candidate> candidates, const plan::Cores& cores,
                                 std::optional<double> measured_error, plan::Exactness required) {
  if (candidates.empty()) {
    throw base::Failure("tuning", "no plan that was tried fits this machine");
  }
  const auto first = candidates.begin() +
                     static_cast<std::ptrdiff_t>(preferred(candidates, cores, measured_error, required));
  std::vector<Candidate> kept{std::move(*first)};
  candidates.erase(first);
  std::stable_sort(candidates.begin(), candidates.end(), is_better);
  const auto kind_of = [](const plan::Plan& plan) { return std::pair(plan.name, plan::exactness_of(plan)); };
  std::set<std::pair<std::string, plan::Exactness>> kinds{kind_of(kept.front().plan)};
  for (auto& candidate : candidates) {
    if (kinds.insert(kind_of(candidate.plan)).second) {
      kept.push_back(std::move(candidate));
    }
  }
  return kept;
}

std::vector<plan::Plan> plans_of(const std::vector<Candidate>& candidates) {
  std::vector<plan::Plan> plans;
  for (const auto& candidate : candidates) {
    plans.push_back(candidate.plan);
  }
  return plans;
}

/// All searches of one tune().
class TuningRun {
 public:
  TuningRun(const profiles::Profile& profile, const TuningOptions& options, EvaluateOn evaluate,
            base::Progress progress, const std::atomic<bool>* stop)
      : profile_(with_host_memory(profile, options.limits)),
        searched_(shortened(profile_, max_searched_batches)),
        options_(options),
        limits_(options.consumption),
        accuracy_(accuracy_of(profile_, options)),
        predict_all_(std::move(evaluate)),
        progress_(base::stoppable(std::move(progress), stop)),
        stop_(stop) {
    check(limits_, profile_);
    limits_.batches = static_cast<double>(profile_.workload.batches);
    evaluate_ = [this](const std::vector<plan::Plan>& plans) { return predict_all(searched_, plans); };
    if (!options.journal.empty()) {
      journal_.emplace(options.journal, search_document(profile_, options));
      evaluate_ = journal_->recording(evaluate_);
    }
    evaluate_ = within_limits(searched_, evaluate_);
  }

  Tuning run() {
    tuning_.options = options_;
    tuning_.corrections = profile_.corrections;
    tuning_.learned = profile_.learned;
    tuning_.evaluation = profile_.workload.evaluation;
    tuning_.questionable = profiles::questionable_factors(profile_.machine.contention);
    search_plans();
    tuning_.searched_share =
        static_cast<double>(searched_.workload.batches) / static_cast<double>(profile_.workload.batches);
    choose();
    if (options_.on_best) {
      options_.on_best(tuning_.best());
    }
    without_losing_the_plan("the epochs' confidence intervals",
                            [this] { tuning_.certainties = certainties(profile_, tuning_.candidates); });
    if (accuracy_) {
      tuning_.accuracy = accuracy_->of(tuning_.best().plan);
      tuning_.exact_accuracy = accuracy_->of({});
      tuning_.accuracy_doubt = accuracy_->doubt();
    }
    if (options_.front) {
      without_losing_the_plan("the plans that no other beats", [this] { find_front(); });
    }
    if (options_.explain) {
      without_losing_the_plan("what would help", [this] { find_sensitivities(); });
    }
    tuning_.resumed = journal_ ? journal_->resumed() : 0;
    return std::move(tuning_);
  }

 private:
  /// Plans with weaker guarantees than required are searched for a shorter time, only to report the cost of
  /// exactness. Not needed if all plans are searched anyway.
  void search_plans() {
    const auto wide = with_less_exact(options_);
    const bool is_narrow = required_exactness(options_) > required_exactness(wide);
    if (is_narrow && options_.strategy != StrategyKind::exhaustive) {
      auto budget = budget_of(options_);
      tuning_.found = search(options_, budget, &tuning_);
      if (!options_.explain) {
        return;
      }
      budget.evaluations = std::min(budget.evaluations, front_evaluations);
      budget.seconds /= 4;
      without_losing_the_plan("the price of exactness",
                              [&] { tuning_.less_exact = search(wide, budget, nullptr).evaluated; });
    } else {
      tuning_.found = search(wide, budget_of(options_), &tuning_);
    }
  }

  /// Runs a later step; if it fails, the failure is reported and the result unchanged.
  template <class Step>
  void without_losing_the_plan(const char* what, const Step& step) {
    try {
      step();
    } catch (const base::Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      tuning_.failures.push_back(std::string(what) + ": " + error.what());
    }
  }

  void find_sensitivities() {
    tuning_.sensitivities =
        sensitivities(profile_, tuning_.best().plan,
                      {[this](const profiles::Profile& p) { return request_of(p, options_, accuracy_); },
                       [this](const profiles::Profile& p, const plan::Plan& plan) {
                         return limited(p, predict_all(p, {plan}).front());
                       },
                       options_.processes});
  }

  std::vector<sim::Prediction> predict_all(const profiles::Profile& profile,
                                           const std::vector<plan::Plan>& plans) {
    base::check_stop(stop_);
    return predict_all_(profile, plans);
  }

  /// A plan over the limits has an infinite epoch, like one that does not fit in memory.
  sim::Prediction limited(const profiles::Profile& profile, sim::Prediction prediction) {
    if (!std::isfinite(prediction.epoch_s)) {
      return prediction;
    }
    const double share =
        share_of_limits(limits_, prediction.consumption, static_cast<double>(profile.workload.batches));
    min_share_ = std::min(min_share_, share);
    if (share > 1) {
      prediction.epoch_s = std::numeric_limits<double>::infinity();
    }
    return prediction;
  }

  EvaluateAll within_limits(const profiles::Profile& profile, EvaluateAll evaluate) {
    return [this, &profile, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
      auto predictions = evaluate(plans);
      for (auto& prediction : predictions) {
        prediction = limited(profile, std::move(prediction));
      }
      return predictions;
    };
  }

  SearchResult search(const TuningOptions& options, const Budget& budget, Tuning* counts) {
    const auto space = make_space(request_of(searched_, options, accuracy_));
    PointFacts facts(searched_, space, limits_);
    auto found = search_space(space, facts, options, budget);
    if (counts != nullptr) {
      counts->plans = space.size();
      counts->bounds = facts.num_bounds();
      counts->estimates = facts.num_estimates();
    }
    return found;
  }

  SearchResult search_space(const Space& space, PointFacts& facts, const TuningOptions& options,
                            const Budget& budget) {
    try {
      return tuner::search({searched_, space, facts, options.seed}, options.strategy, budget, evaluate_,
                           progress_);
    } catch (const base::Failure&) {
      if (min_share_ > 1 && std::isfinite(min_share_)) {
        throw base::InputError("energy and price limits",
                               "no plan that was tried keeps to them; the nearest takes " +
                                   base::Json(min_share_).dump() + " times as much");
      }
      throw;
    }
  }

  /// Compares presets and found plans by whole epochs.
  void choose() {
    const auto request = request_of(profile_, with_less_exact(options_), accuracy_);
    const auto required = required_exactness(options_);
    const auto best_of_each = [&](std::vector<Candidate> candidates) {
      return finalists(possible(std::move(candidates)), request.cores, profile_.prediction_error, required);
    };
    auto all = tuning_.found.evaluated;
    all.insert(all.end(), tuning_.less_exact.begin(), tuning_.less_exact.end());
    auto candidates = best_of_each(std::move(all));
    if (searched_.workload.batches < profile_.workload.batches) {
      candidates = predicted(plans_of(candidates));
    }
    take_usual_buffers(candidates, request);
    const auto presets = predicted(preset_plans(profile_, request));
    candidates.insert(candidates.begin(), presets.begin(), presets.end());
    tuning_.candidates = best_of_each(std::move(candidates));
    tuning_.passed_over = passed_over(tuning_.candidates, tuning_.best(), request.cores, required);
    price_exactness(required);
  }

  /// The fastest of all candidates against the fastest of those with the required exactness.
  void price_exactness(plan::Exactness required) {
    const Candidate* fastest = nullptr;
    const Candidate* fastest_exact = nullptr;
    bool has_less_exact = false;
    for (const auto& candidate : tuning_.candidates) {
      const bool promises = plan::exactness_of(candidate.plan) >= required;
      has_less_exact |= !promises;
      fastest = fastest == nullptr || is_better(candidate, *fastest) ? &candidate : fastest;
      if (promises && (fastest_exact == nullptr || is_better(candidate, *fastest_exact))) {
        fastest_exact = &candidate;
      }
    }
    if (has_less_exact) {
      tuning_.exactness_price = {*fastest,
                                 fastest_exact->prediction.epoch_s / fastest->prediction.epoch_s - 1};
    }
  }

  /// Gives plans the usual buffers where that costs next to nothing.
  void take_usual_buffers(std::vector<Candidate>& candidates, const SpaceRequest& request) {
    auto plans = plans_of(candidates);
    for (auto& plan : plans) {
      if (auto usual = with_usual_buffers(plan); is_allowed(request, usual)) {
        plan = std::move(usual);
      }
    }
    const auto usual = predicted(plans);
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (usual[i].prediction.epoch_s <=
          candidates[i].prediction.epoch_s * (1 + same_epoch(request.cores, profile_.prediction_error))) {
        candidates[i] = usual[i];
      }
    }
  }

  /// Predictions of whole epochs.
  std::vector<Candidate> predicted(const std::vector<plan::Plan>& plans) {
    auto predictions = predict_all(profile_, plans);
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      candidates.push_back({plans[i], limited(profile_, std::move(predictions[i]))});
    }
    return candidates;
  }

  double memory_bytes(const sim::Prediction& prediction) const {
    return plan::has_link(profile_.machine.device.kind) ? prediction.memory.device.total()
                                                        : prediction.memory.host.total();
  }

  /// Searches again with decreasing memory and increasing accuracy; keeps the Pareto-optimal plans.
  void find_front() {
    auto all = possible(tuning_.found.evaluated);
    std::erase_if(all, [&](const Candidate& candidate) {
      return plan::exactness_of(candidate.plan) < required_exactness(options_);
    });
    const double most = memory_bytes(tuning_.found.best.prediction);
    double least = most;
    for (const auto& candidate : all) {
      least = std::min(least, memory_bytes(candidate.prediction));
    }
    for (int step = 1; step < front_steps && least < most; ++step) {
      auto options = options_;
      (plan::has_link(profile_.machine.device.kind) ? options.limits.device_bytes
                                                    : options.limits.host_bytes) =
          most - (most - least) * step / front_steps;
      add_found(options, all);
    }
    for (int step = 1; accuracy_ && step <= accuracy_steps; ++step) {
      auto options = options_;
      const double exact = tuning_.exact_accuracy->accuracy;
      options.accuracy_floor =
          std::max(options_.accuracy_floor, exact - accuracy_span * (accuracy_steps - step) / accuracy_steps);
      add_found(options, all);
    }
    keep_front(all);
  }

  void add_found(const TuningOptions& options, std::vector<Candidate>& all) {
    try {
      const auto found = search(options, {.evaluations = front_evaluations}, nullptr).evaluated;
      all.insert(all.end(), found.begin(), found.end());
    } catch (const base::InputError&) {
      // No plan respects these limits.
    }
  }

  /// Epoch, memory and, if accuracy is predicted, the share of wrong classes.
  Goals goals_of(const Candidate& candidate) const {
    Goals goals = {candidate.prediction.epoch_s, memory_bytes(candidate.prediction)};
    if (accuracy_) {
      goals.push_back(1 - accuracy_->of(candidate.plan).accuracy);
    }
    return goals;
  }

  void keep_front(const std::vector<Candidate>& all) {
    std::vector<Goals> goals;
    double most_bytes = 0;
    double fastest_s = std::numeric_limits<double>::infinity();
    for (const auto& candidate : all) {
      goals.push_back(goals_of(candidate));
      fastest_s = std::min(fastest_s, goals.back()[0]);
      most_bytes = std::max(most_bytes, goals.back()[1]);
    }
    for (const std::size_t i : pareto_front(goals)) {
      tuning_.front.push_back({all[i].plan, goals[i][0] / tuning_.searched_share, goals[i][1],
                               accuracy_ ? std::optional(1 - goals[i][2]) : std::nullopt});
    }
    Goals reference = {2 * fastest_s, 2 * most_bytes};
    if (accuracy_) {
      reference.push_back(1);
    }
    tuning_.hypervolume = hypervolume(goals, reference) / std::max(1e-300, 4 * fastest_s * most_bytes);
  }

  /// Longer epochs are cut to this many batches while plans are searched.
  static constexpr std::int64_t max_searched_batches = 1500;
  static constexpr int front_steps = 6;
  static constexpr int accuracy_steps = 2;
  static constexpr double accuracy_span = 0.02;  ///< range below the exact plans' accuracy that is searched
  static constexpr int front_evaluations = 25;

  const profiles::Profile profile_;  ///< with at most the limit's host memory
  profiles::Profile searched_;
  const TuningOptions& options_;
  ConsumptionLimits limits_;
  double min_share_ = std::numeric_limits<double>::infinity();  ///< smallest share of limits_ seen
  Accuracy accuracy_;
  EvaluateOn predict_all_;
  base::Progress progress_;
  const std::atomic<bool>* stop_;
  std::optional<Journal> journal_;
  EvaluateAll evaluate_;
  Tuning tuning_;
};

}  // namespace

Tuning tune(const profiles::Profile& profile, const TuningOptions& options, const EvaluateOn& evaluate,
            const base::Progress& progress, const std::atomic<bool>* stop) {
  return TuningRun(profile, options, evaluate ? evaluate : simulate_in(options.processes), progress, stop)
      .run();
}

}  // namespace gnomon::tuner
