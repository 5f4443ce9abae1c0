#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/exactness.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "profiles/questionable.h"
#include "tuner/certainty.h"
#include "tuner/search/candidate.h"
#include "tuner/search/consumption_limits.h"
#include "tuner/search/preference.h"
#include "tuner/search/search.h"
#include "tuner/sensitivity.h"
#include "tuner/space/space.h"
#include "tuner/surrogate/learned_accuracy.h"

namespace gnomon::tuner {

/// Options of tune().
struct TuningOptions {
  StrategyKind strategy = StrategyKind::automatic;
  std::optional<Budget> budget{};  ///< of the search; absent: budget_of() decides
  std::uint64_t seed = 0;
  /// Minimum exactness of the chosen plan; by default, repeated trainings end with the same bits.
  plan::Exactness exactness = plan::Exactness::order;
  bool approximate = false;       ///< also choose from approximate plans, which change the training
  bool simulated = false;         ///< also consider plans that the runtime cannot execute
  MemoryLimits limits;            ///< maximum memory at the peak of an epoch
  ConsumptionLimits consumption;  ///< maximum of the profile's whole epoch; its `batches` are set by tune()
  bool explain = true;            ///< also find the price of exactness, and which changes would help
  bool front = false;             ///< also find the plans that no other beats in time, memory and accuracy
  std::string surrogate;          ///< file that predicts the accuracy of approximate plans; empty: none
  double accuracy_floor = 0;      ///< minimum predicted accuracy of approximate plans; needs `surrogate`
  int processes = 1;              ///< processes that predict side by side; the result does not depend on them
  std::string journal;            ///< file from which the search is resumed; empty: none
  /// Called with the chosen plan as soon as it is known, before further results are computed. May be empty.
  std::function<void(const Candidate&)> on_best{};
};

/// A Pareto-optimal plan.
struct FrontPoint {
  plan::Plan plan;
  double epoch_s = 0;
  double memory_bytes = 0;         ///< at the peak: of a GPU, or of the host if there is none
  std::optional<double> accuracy;  ///< predicted, if there is a predictor
};

/// The cost of requiring exactness (plan::Exactness).
struct ExactnessPrice {
  Candidate fastest;  ///< the fastest of all plans, with any guarantee
  double share = 0;   ///< relative excess of the fastest plan with the required exactness
};

/// The result of tuning a profile.
struct Tuning {
  TuningOptions options;
  std::int64_t plans = 0;                            ///< size of the searched space, excluded plans included
  std::int64_t bounds = 0;                           ///< lower bounds that were computed
  std::int64_t estimates = 0;                        ///< epochs computed by arithmetic, to rank plans
  std::size_t resumed = 0;                           ///< evaluations that came from the journal
  std::optional<profiles::Corrections> corrections;  ///< of the profile's stages, by earlier real runs
  std::optional<profiles::LearnedCorrections> learned{};   ///< of the profile's stages, by earlier runs here
  std::vector<profiles::QuestionableFactor> questionable;  ///< slowdowns of the profile measured as speed-ups
  std::optional<profiles::EvaluationProfile> evaluation;   ///< evaluation after an epoch, from the profile
  SearchResult found;
  /// Result of a short search that also included plans with weaker guarantees.
  std::vector<Candidate> less_exact;
  double searched_share = 1;  ///< of an epoch that the predictions in `found` and `less_exact` are for
  /// The chosen plan (tuner::preferred) among presets and found plans, then the fastest of each other name
  /// and exactness. Predictions are of whole epochs.
  std::vector<Candidate> candidates;
  std::vector<Certainty> certainties;  ///< of each of `candidates`; empty if they could not be computed
  /// Candidates faster than the chosen plan, in ascending order of epochs.
  std::vector<PassedOver> passed_over;
  std::optional<ExactnessPrice> exactness_price;  ///< absent if no plan has a weaker guarantee
  std::vector<Sensitivity> sensitivities;         ///< effects of changes to the machine, the best first
  std::vector<std::string> failures;              ///< what could not be computed about the plan, and why
  std::vector<FrontPoint> front;                  ///< the fastest first; empty unless asked for
  /// Volume under the front, as a share of twice the fastest epoch times twice the maximum memory (times 1,
  /// the highest accuracy, if it is predicted).
  double hypervolume = 0;
  std::optional<AccuracyForecast> accuracy;        ///< predicted for the best plan
  std::optional<AccuracyForecast> exact_accuracy;  ///< predicted for every exact plan
  std::string accuracy_doubt;                      ///< why these predictions are uncertain; empty if not

  const Candidate& best() const { return candidates.front(); }
  /// Half width of the 95 % confidence interval of the best plan's epoch, if it is known.
  std::optional<double> interval_s() const {
    return certainties.empty() ? std::nullopt : certainties.front().interval_s;
  }
};

/// The document "gnomon.tuning/1".
base::Json to_document(const Tuning& tuning);

/// Epochs that were simulated to find the plan.
std::int64_t num_simulations(const Tuning& tuning);

/// The number of evaluations of each fidelity: bounds, estimates, simulations and real runs.
base::Json fidelities_document(const Tuning& tuning, int real_runs);

}  // namespace gnomon::tuner
