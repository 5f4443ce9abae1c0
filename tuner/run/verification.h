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

/// The plans that are worth a real run: the one to take by prediction alone (preferred()), then the fastest
/// by prediction, at most six. They differ in schedule, route, workers or threads, and train in the order of
/// the indices, so that one may take over from another and the weights do not depend on timing.
std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores);

/// The plan with other choices of where memory lies and on which cores workers run, for a machine whose
/// memory has several nodes. The simulator does not tell them apart; real runs do.
std::vector<plan::Plan> placed_otherwise(const plan::Plan& plan, const plan::Cores& cores);

/// A plan, predicted and run for real.
struct VerifiedPlan {
  plan::Plan plan;
  double predicted_s = 0;                ///< an epoch
  std::optional<double> measured_s;      ///< an epoch; absent if no turn of the plan counted
  std::optional<double> relative_error;  ///< standard error of measured_s; absent with fewer than two turns
  int turns = 0;                         ///< turns that counted
};

/// What a verification found and what it cost.
struct VerificationResult {
  plan::Plan best;
  std::vector<VerifiedPlan> plans;  ///< the best first
  int turns = 0;                    ///< real runs of all plans, warm-up included
  std::int64_t turn_batches = 0;    ///< mini-batches of one real run
  double seconds = 0;               ///< time of all real runs
  double extra_s = 0;               ///< time that the best plan would have saved

  std::int64_t batches() const { return turn_batches * turns; }
};

/// The "verification" of a document "gnomon.autotuning/1".
base::Json to_document(const VerificationResult& result);

/// Verifies the best plans of a tuning by short real runs that are the beginning of the training itself, and
/// goes on with the plan that measured fastest. The stage times of these runs correct the profile.
class Verification {
 public:
  /// `profile` and `simulator` must outlive it.
  Verification(const profiles::Profile& profile, const Tuning& tuning, const plan::Job& job,
               sim::Simulator& simulator);

  /// For runtime::TrainOptions.
  runtime::Stretch next_stretch(std::int64_t left);
  void on_stretch(const runtime::StretchReport& report);

  /// Whether the plan is chosen.
  bool is_over() const { return race_.is_over(); }
  const plan::Plan& best() const { return race_.best().plan; }
  VerificationResult result() const;
  /// By the turns that counted; absent without any.
  std::optional<profiles::Corrections> corrections() const;

 private:
  const profiles::Profile& profile_;
  sim::Simulator& simulator_;
  std::int64_t turn_batches_ = 1;  ///< set with the entrants
  std::vector<Entrant> entrants_;
  PlanRace race_;
  bool in_turn_ = false;
  std::vector<RealRun> runs_;
};

}  // namespace gnomon::tuner
