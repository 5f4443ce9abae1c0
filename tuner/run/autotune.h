#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"
#include "tuner/evidence/measurement_choice.h"
#include "tuner/run/replanned_training.h"
#include "tuner/run/run_directory.h"
#include "tuner/run/training.h"
#include "tuner/run/verification.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// Options and callbacks of autotune().
struct AutotuneOptions {
  std::string data;  ///< the graph, as the user named it
  RunFiles files;
  plan::Job job;
  double interval = 0.02;    ///< of the measurements, as in profiles::MeasureOptions
  double time_limit_s = 20;  ///< of the measurements
  /// Maximum share of the training time, as estimated by the first measurements, to spend on measuring; in a
  /// short training min_profile_s instead.
  double profile_share = 0.05;
  double min_profile_s = 2;
  MeasureOrder measure_order = MeasureOrder::value;
  /// A profile of this graph and job to use instead of measuring.
  std::optional<profiles::Profile> profile{};
  /// Choose the plan for this machine, limited to the local cores and devices.
  std::optional<profiles::MachineProfile> machine{};
  runtime::DeviceOptions device{};
  TuningOptions tuning{};
  bool replan = false;              ///< re-plan during the training (Replanner)
  std::int64_t evaluate_every = 1;  ///< epochs, as in runtime::TrainOptions; 0: never
  base::Progress progress{};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws Interrupted

  /// Called at the end of each phase: the profile is measured, plans are predicted, training begins with a
  /// plan (which may change while plans are verified), an epoch is trained. All may be empty.
  std::function<void(const profiles::Profile&)> on_profile{};
  std::function<void(const Tuning&, const Verification&)> on_tuning{};
  std::function<void(const runtime::EpochReport&, const EpochUtilisation&)> on_epoch{};
  std::function<void(const Replanned&)> on_replanned{};
};

/// The cost of choosing the plan, in addition to the training.
struct ChoiceCosts {
  double profile_s = 0;
  double tune_s = 0;
  double verification_s = 0;  ///< excess over the time of the best plan

  double total_s() const { return profile_s + tune_s + verification_s; }
};

/// The result of autotune().
struct Autotuning {
  RunFiles files;
  profiles::Profile profile;  ///< corrected by the real runs
  /// ChoiceProfile::regret of the profile as measured; none if it was given.
  std::optional<double> expected_regret{};
  Tuning tuning;
  VerificationResult verification;
  TrainingResult training;
  std::vector<Replanned> replanning;  ///< comparisons after the verification
  ChoiceCosts costs;
  double predicted_epoch_s = 0;  ///< of the last plan, on the profile as measured
  double corrected_epoch_s = 0;  ///< on the corrected profile

  double measured_epoch_s() const { return training.median_epoch_s(); }
  /// Seconds of all epochs, without evaluation.
  double training_s() const;
};

/// Measures a profile (or takes the given one), tunes, verifies the best plans by real runs, which are the
/// first part of the training, and continues with the fastest. Every document and a trace (predicted beside
/// measured) are left in the run's directory. Throws InputError, Failure, Interrupted; an interrupted
/// training can be resumed.
Autotuning autotune(const graph::Graph& graph, const AutotuneOptions& options);

/// The document "gnomon.autotuning/1".
base::Json to_document(const Autotuning& result);

}  // namespace gnomon::tuner
