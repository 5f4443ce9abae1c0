#include "apps/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "apps/interrupt.h"
#include "apps/packed_prediction.h"
#include "apps/progress_bar.h"
#include "apps/tuning_request.h"
#include "base/error.h"
#include "base/processes.h"
#include "sim/costs/costs.h"
#include "sim/running.h"
#include "tuner/search/journal.h"
#include "tuner/search/pareto.h"
#include "tuner/search/preference.h"

namespace gnomon::apps {
namespace {

/// Also what a journal does not hold.
tuner::EvaluateAll with_memory_and_use(const profiles::Profile& profile, tuner::EvaluateAll evaluate) {
  return [&profile, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
    auto predictions = evaluate(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto resolved = sim::resolve_on(profile, plans[i]);
      predictions[i].memory = sim::costs_of_plan(profile, resolved).memory;
      predictions[i].use = sim::use_of(profile, resolved, predictions[i]);
    }
    return predictions;
  };
}

/// Without those that do not fit, or take more than the limits.
std::vector<tuner::Candidate> possible(std::vector<tuner::Candidate> candidates) {
  std::erase_if(candidates, [](const tuner::Candidate& c) { return !std::isfinite(c.prediction.epoch_s); });
  return candidates;
}

/// The one to take, and of the others the fastest of each name, the fastest first.
std::vector<tuner::Candidate> finalists(std::vector<tuner::Candidate> candidates, const plan::Cores& cores) {
  if (candidates.empty()) {
    return {};
  }
  const auto first = candidates.begin() + static_cast<std::ptrdiff_t>(tuner::preferred(candidates, cores));
  std::vector<tuner::Candidate> kept{std::move(*first)};
  candidates.erase(first);
  std::stable_sort(candidates.begin(), candidates.end(), tuner::is_better);
  std::set<std::string> names{kept.front().plan.name};
  for (auto& candidate : candidates) {
    if (names.insert(candidate.plan.name).second) {
      kept.push_back(std::move(candidate));
    }
  }
  return kept;
}

std::vector<plan::Plan> plans_of(const std::vector<tuner::Candidate>& candidates) {
  std::vector<plan::Plan> plans;
  for (const auto& candidate : candidates) {
    plans.push_back(candidate.plan);
  }
  return plans;
}

/// The searches of one `gnomon tune`.
class TuningRun {
 public:
  TuningRun(const profiles::Profile& profile, sim::Simulator& simulator, const TuningOptions& options,
            const base::Progress& progress)
      : profile_(profile),
        searched_(tuner::shortened(profile, most_batches)),
        simulator_(simulator),
        options_(options),
        running_(options.running),
        accuracy_(accuracy_of(profile, options)),
        progress_(progress) {
    tuner::check(running_, profile);
    running_.batches = static_cast<double>(profile.workload.batches);
    evaluate_ = [this](const std::vector<plan::Plan>& plans) { return predict_all(searched_, plans); };
    if (!options.journal.empty()) {
      journal_.emplace(options.journal, search_document(profile, options));
      evaluate_ = journal_->recording(evaluate_);
    }
    evaluate_ = within_limits(searched_, with_memory_and_use(searched_, evaluate_));
  }

  Tuning run() {
    tuning_.options = options_;
    tuning_.corrections = profile_.corrections;
    tuning_.found = search(options_, options_.budget, &tuning_);
    tuning_.searched_share =
        static_cast<double>(searched_.workload.batches) / static_cast<double>(profile_.workload.batches);
    choose();
    if (accuracy_) {
      tuning_.accuracy = accuracy_->of(tuning_.best().plan);
      tuning_.exact_accuracy = accuracy_->of({});
    }
    if (options_.front) {
      find_front();
    }
    if (options_.sensitivities) {
      tuning_.sensitivities = tuner::sensitivities(
          profile_, tuning_.best().plan,
          {[this](const profiles::Profile& p) { return request_of(p, options_, accuracy_); },
           [this](const profiles::Profile& p, const plan::Plan& plan) {
             return limited(p, predict(p, plan));
           },
           options_.processes});
    }
    tuning_.resumed = journal_ ? journal_->resumed() : 0;
    return std::move(tuning_);
  }

 private:
  sim::Prediction predict(const profiles::Profile& profile, const plan::Plan& plan) {
    return sim::predict(simulator_, profile, plan);
  }

  /// In the processes that there are; whatever their number to the same bits.
  std::vector<sim::Prediction> predict_all(const profiles::Profile& profile,
                                           const std::vector<plan::Plan>& plans) {
    const auto predict_one = [&](std::int64_t number) {
      return pack(predict(profile, plans[static_cast<std::size_t>(number)]));
    };
    std::vector<sim::Prediction> predictions;
    for (const auto& answer :
         base::in_processes(std::ssize(plans), options_.processes, predict_one, {}, "tuning")) {
      predictions.push_back(unpack(answer));
    }
    return predictions;
  }

  /// A plan that takes more than the limits has an infinite epoch, like one that does not fit into memory.
  sim::Prediction limited(const profiles::Profile& profile, sim::Prediction prediction) {
    if (!std::isfinite(prediction.epoch_s)) {
      return prediction;
    }
    const double share =
        tuner::share_of_limits(running_, prediction.use, static_cast<double>(profile.workload.batches));
    least_share_ = std::min(least_share_, share);
    if (share > 1) {
      prediction.epoch_s = std::numeric_limits<double>::infinity();
    }
    return prediction;
  }

  tuner::EvaluateAll within_limits(const profiles::Profile& profile, tuner::EvaluateAll evaluate) {
    return [this, &profile, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
      auto predictions = evaluate(plans);
      for (auto& prediction : predictions) {
        prediction = limited(profile, std::move(prediction));
      }
      return predictions;
    };
  }

  tuner::SearchResult search(const TuningOptions& options, const tuner::Budget& budget, Tuning* facts) {
    const auto space = tuner::make_space(request_of(searched_, options, accuracy_));
    tuner::Bounds bounds(searched_, space, running_);
    auto found = search(space, bounds, options, budget);
    if (facts != nullptr) {
      facts->plans = space.size();
      facts->bounds = bounds.count();
      facts->estimates = bounds.estimates();
    }
    return found;
  }

  tuner::SearchResult search(const tuner::Space& space, tuner::Bounds& bounds, const TuningOptions& options,
                             const tuner::Budget& budget) {
    try {
      return tuner::search({searched_, space, bounds, options.seed}, options.strategy, budget, evaluate_,
                           progress_);
    } catch (const base::Failure&) {
      if (least_share_ > 1 && std::isfinite(least_share_)) {
        throw base::InputError("--energy-limit, --price-limit",
                               "no plan that was tried takes so little; the least takes " +
                                   base::Json(least_share_).dump() + " times as much");
      }
      throw;
    }
  }

  /// Among the presets and what was found the one to take and the fastest of each name, by whole epochs.
  void choose() {
    const auto request = request_of(profile_, options_, accuracy_);
    auto candidates = finalists(possible(tuning_.found.evaluated), request.cores);
    if (searched_.workload.batches < profile_.workload.batches) {
      candidates = predicted(plans_of(candidates));
    }
    take_usual_buffers(candidates, request);
    const auto presets = predicted(preset_plans(profile_, request));
    candidates.insert(candidates.begin(), presets.begin(), presets.end());
    tuning_.candidates = finalists(possible(std::move(candidates)), request.cores);
  }

  /// Where that costs next to nothing.
  void take_usual_buffers(std::vector<tuner::Candidate>& candidates, const tuner::SpaceRequest& request) {
    auto plans = plans_of(candidates);
    for (auto& plan : plans) {
      if (auto usual = tuner::with_usual_buffers(plan); is_allowed(request, usual)) {
        plan = std::move(usual);
      }
    }
    const auto usual = predicted(plans);
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (usual[i].prediction.epoch_s <=
          candidates[i].prediction.epoch_s * (1 + tuner::same_epoch(request.cores))) {
        candidates[i] = usual[i];
      }
    }
  }

  /// By whole epochs.
  std::vector<tuner::Candidate> predicted(const std::vector<plan::Plan>& plans) {
    auto predictions = predict_all(profile_, plans);
    std::vector<tuner::Candidate> candidates;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      candidates.push_back({plans[i], limited(profile_, std::move(predictions[i]))});
    }
    return candidates;
  }

  double memory_bytes(const sim::Prediction& prediction) const {
    return profile_.machine.device.kind == profiles::DeviceKind::cuda ? prediction.memory.device.total()
                                                                      : prediction.memory.host.total();
  }

  /// Searches again with ever less memory, and for ever more accuracy, and keeps what no other plan beats.
  void find_front() {
    auto all = possible(tuning_.found.evaluated);
    const double most = memory_bytes(tuning_.found.best.prediction);
    double least = most;
    for (const auto& candidate : all) {
      least = std::min(least, memory_bytes(candidate.prediction));
    }
    for (int step = 1; step < front_steps && least < most; ++step) {
      auto options = options_;
      const bool has_gpu = profile_.machine.device.kind == profiles::DeviceKind::cuda;
      (has_gpu ? options.limits.device_bytes : options.limits.host_bytes) =
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

  void add_found(const TuningOptions& options, std::vector<tuner::Candidate>& all) {
    const auto found = search(options, {.evaluations = front_evaluations}, nullptr).evaluated;
    all.insert(all.end(), found.begin(), found.end());
  }

  /// Epoch, memory and, where accuracy is predicted, the share that is classified wrongly.
  tuner::Goals goals_of(const tuner::Candidate& candidate) const {
    tuner::Goals goals = {candidate.prediction.epoch_s, memory_bytes(candidate.prediction)};
    if (accuracy_) {
      goals.push_back(1 - accuracy_->of(candidate.plan).accuracy);
    }
    return goals;
  }

  void keep_front(const std::vector<tuner::Candidate>& all) {
    std::vector<tuner::Goals> goals;
    double most_bytes = 0;
    double fastest_s = std::numeric_limits<double>::infinity();
    for (const auto& candidate : all) {
      goals.push_back(goals_of(candidate));
      fastest_s = std::min(fastest_s, goals.back()[0]);
      most_bytes = std::max(most_bytes, goals.back()[1]);
    }
    for (const std::size_t i : tuner::pareto_front(goals)) {
      tuning_.front.push_back({all[i].plan, goals[i][0] / tuning_.searched_share, goals[i][1],
                               accuracy_ ? std::optional(1 - goals[i][2]) : std::nullopt});
    }
    tuner::Goals reference = {2 * fastest_s, 2 * most_bytes};
    if (accuracy_) {
      reference.push_back(1);
    }
    tuning_.hypervolume = tuner::hypervolume(goals, reference) / std::max(1e-300, 4 * fastest_s * most_bytes);
  }

  /// Longer epochs are cut to so many batches while plans are searched.
  static constexpr std::int64_t most_batches = 1500;
  static constexpr int front_steps = 6;
  static constexpr int accuracy_steps = 2;
  static constexpr double accuracy_span = 0.02;  ///< below exact plans' accuracy, searched for the front
  static constexpr int front_evaluations = 25;

  const profiles::Profile& profile_;
  profiles::Profile searched_;
  sim::Simulator& simulator_;
  const TuningOptions& options_;
  tuner::RunningLimits running_;
  double least_share_ = std::numeric_limits<double>::infinity();  ///< of them, that a plan takes
  Accuracy accuracy_;
  const base::Progress& progress_;
  std::optional<tuner::Journal> journal_;
  tuner::EvaluateAll evaluate_;
  Tuning tuning_;
};

}  // namespace

Tuning tune_with_bar(const profiles::Profile& profile, sim::Simulator& simulator,
                     const TuningOptions& options) {
  ProgressBar bar;
  const auto progress = interruptible(bar.progress(), stop_on_interrupt());
  return TuningRun(profile, simulator, options, progress).run();
}

}  // namespace gnomon::apps
