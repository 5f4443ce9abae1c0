#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/document.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "runtime/training/stretch.h"
#include "sim/simulator.h"
#include "tuner/tuning.h"
#include "tuner/verify/correction.h"
#include "tuner/verify/race.h"

namespace gnomon::tuner {

/// Returns the plans to verify by real runs: the preferred one by prediction (preferred()), then the others
/// by prediction, none of which reads more from the disk than the preferred one: of the tuning's plans and of
/// others that are `uncertain`. They differ in schedule, route, workers, threads or where data lie, and train
/// in index order, so that one can take over from another and the weights do not depend on timing.
std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores,
                                        const std::vector<Candidate>& uncertain = {});

/// Returns the plan with every other executable choice of memory placement and pinning, for a machine with
/// several NUMA nodes. The simulator does not distinguish them; real runs do.
std::vector<plan::Plan> placed_otherwise(const plan::Plan& plan, const plan::Cores& cores);

/// A plan, predicted and run for real.
struct VerifiedPlan {
  plan::Plan plan;
  double predicted_s = 0;                ///< an epoch
  std::optional<double> measured_s;      ///< per epoch; absent if no turn of the plan counted
  std::optional<double> relative_error;  ///< standard error of measured_s; absent with fewer than two turns
  int turns = 0;                         ///< turns that counted
};

/// The result of a verification and its cost.
struct VerificationResult {
  plan::Plan best;
  std::vector<VerifiedPlan> plans;  ///< the best first
  int turns = 0;                    ///< real runs of all plans, warm-up included
  std::int64_t batches = 0;         ///< mini-batches of all real runs
  double seconds = 0;               ///< time of all real runs
  double extra_s = 0;               ///< excess over the time of the best plan
  /// Whether the last race was decided: with probability 1 - `error` its best plan is not slower than the
  /// fastest of its plans by more than `tolerance` (PlanRace).
  bool is_decided = false;
  double tolerance = 0;
  double error = 0;
};

/// The field "verification" of a document "gnomon.autotuning/1".
base::Json to_document(const VerificationResult& result);

/// Verifies the best plans of a tuning, at most eight, by short real runs, which are the first part of the
/// training, and continues with the plan that measured fastest. The stage times of these runs correct the
/// profile. If other plans are faster by the corrected profile than the best one was measured, these are run
/// as well: plans alike may be mispredicted alike.
class Verification {
 public:
  /// `profile` and `simulator` must outlive it.
  Verification(const profiles::Profile& profile, const Tuning& tuning, const plan::Job& job,
               sim::Simulator& simulator);

  /// For runtime::TrainOptions.
  runtime::Stretch next_stretch(std::int64_t left);
  void on_stretch(const runtime::StretchReport& report);

  /// Whether the plan is chosen.
  bool is_over() const { return race_->is_over(); }
  const plan::Plan& best() const { return race_->best().plan; }
  VerificationResult result() const;
  /// Corrections from the turns that counted; absent if there are none.
  std::optional<profiles::Corrections> corrections() const;
  /// The turns that counted.
  const std::vector<RealRun>& runs() const { return runs_; }

 private:
  void start_race();
  void race_others();

  const profiles::Profile& profile_;
  sim::Simulator& simulator_;
  std::vector<plan::Plan> others_;  ///< that have not been run
  RaceTerms terms_;
  std::vector<Entrant> entrants_;
  std::vector<double> predicted_s_;  ///< of the entrants: an epoch, before any run
  std::optional<PlanRace> race_;
  VerificationResult earlier_;  ///< of the races before
  int races_ = 0;
  bool in_turn_ = false;
  std::vector<RealRun> runs_;
};

}  // namespace gnomon::tuner
