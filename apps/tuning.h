#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "sim/prediction.h"
#include "tuner/search/running_limits.h"
#include "tuner/search/search.h"
#include "tuner/sensitivity.h"
#include "tuner/surrogate/learned_accuracy.h"

namespace gnomon::apps {

/// How a profile is tuned.
struct TuningOptions {
  tuner::StrategyKind strategy = tuner::StrategyKind::automatic;
  tuner::Budget budget;
  std::uint64_t seed = 0;
  bool approximate = false;  ///< plans that change the training too
  bool simulated = false;    ///< plans too that the runtime does not execute
  tuner::MemoryLimits limits;
  tuner::RunningLimits running;  ///< of the profile's whole epoch; their batches are set when tuning begins
  bool front = false;  ///< also the plans that no other beats in time and memory, and accuracy if predicted
  std::string surrogate;      ///< file that predicts approximate plans' accuracy; none when empty
  double accuracy_floor = 0;  ///< least predicted accuracy of approximate plans
  bool sensitivities = true;
  int processes = 1;    ///< that simulate side by side; the result does not depend on them
  std::string journal;  ///< file that a search is resumed from; none when empty
};

/// A plan that no other one beats in all.
struct FrontPoint {
  plan::Plan plan;
  double epoch_s = 0;
  double memory_bytes = 0;         ///< at the peak: of a GPU, or of the host where there is none
  std::optional<double> accuracy;  ///< where it is predicted
};

/// What came of it.
struct Tuning {
  TuningOptions options;
  std::int64_t plans = 0;                            ///< in the searched space
  std::int64_t bounds = 0;                           ///< lower bounds that were computed
  std::int64_t estimates = 0;                        ///< epochs by arithmetic, to rank plans by
  std::size_t resumed = 0;                           ///< evaluations that came from the journal
  std::optional<profiles::Corrections> corrections;  ///< by which the profile's stages were corrected
  tuner::SearchResult found;
  double searched_share = 1;  ///< of an epoch, which `found` speaks of
  /// Of presets and what was found the one to take (tuner::preferred), then the fastest of each other name.
  std::vector<tuner::Candidate> candidates;
  std::vector<tuner::Sensitivity> sensitivities;
  std::vector<FrontPoint> front;  ///< the fastest first
  /// Under the front, as a share of twice the fastest epoch times twice the most memory (times all accuracy
  /// there could be).
  double hypervolume = 0;
  std::optional<tuner::AccuracyForecast> accuracy;        ///< predicted of the best plan
  std::optional<tuner::AccuracyForecast> exact_accuracy;  ///< of every exact plan
  const tuner::Candidate& best() const { return candidates.front(); }
};

/// Searches the best plan for a profile and compares it with all presets, with a progress bar; Ctrl-C throws
/// Interrupted.
Tuning tune_with_bar(const profiles::Profile& profile, sim::Simulator& simulator,
                     const TuningOptions& options);

/// The numbers of one prediction, the timeline left out.
base::Json prediction_document(const sim::Prediction& prediction);

/// The document "gnomon.tuning/1".
base::Json tuning_document(const Tuning& tuning);

/// The compared plans as a table, the fastest first, and what was found.
std::string tuning_text(const Tuning& tuning);

/// How many evaluations of each fidelity it took: bounds, estimates, simulated epochs, real runs.
std::string fidelities_text(const Tuning& tuning, int real_runs);
base::Json fidelities_document(const Tuning& tuning, int real_runs);

/// "corrected by real runs: cpu batch x 1.05 (+- 0.01) ..."; empty without corrections.
std::string corrections_text(const std::optional<profiles::Corrections>& corrections);

/// How far an epoch is over its lower bound, "3.2 %".
std::string over_bound(const sim::Prediction& prediction);

}  // namespace gnomon::apps
