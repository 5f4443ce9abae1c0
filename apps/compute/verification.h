#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/tuning.h"
#include "base/document.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "runtime/training/stretch.h"
#include "sim/prediction.h"
#include "tuner/verify/correction.h"
#include "tuner/verify/race.h"

namespace gnomon::apps {

/// The plans that are worth a real run: the one to take by prediction alone (tuner::preferred), then the
/// fastest by prediction, at most six, of those that differ in schedule, route, workers or threads, and train
/// in the order of the indices, so that one may take over from another and the weights do not depend on
/// timing.
std::vector<plan::Plan> plans_to_verify(const Tuning& tuning, const plan::Cores& cores);

/// Verifies the best plans of a tuning by short real runs that are the beginning of the training itself, and
/// goes on with the one that measured fastest. What the runs' stages took corrects the profile.
class Verification {
 public:
  /// All must outlive it.
  Verification(const profiles::Profile& profile, const Tuning& tuning, const plan::Job& job,
               sim::Simulator& simulator);

  /// For runtime::TrainOptions.
  runtime::Stretch next_stretch(std::int64_t left);
  void on_stretch(const runtime::StretchReport& report);

  /// Whether the plan is chosen.
  bool is_over() const { return race_.is_over(); }
  const plan::Plan& best() const { return race_.best().plan; }
  const tuner::Race& race() const { return race_; }
  std::int64_t real_batches() const { return piece_ * race_.pieces(); }
  /// By the runs that counted; nothing without any.
  std::optional<profiles::Corrections> corrections();

  /// What was measured beside what was predicted, and what it cost.
  std::string text() const;
  base::Json document() const;

 private:
  const profiles::Profile& profile_;
  sim::Simulator& simulator_;
  std::vector<tuner::Entrant> entrants_;
  std::int64_t piece_;
  tuner::Race race_;
  bool in_piece_ = false;
  std::vector<tuner::RealRun> runs_;
};

}  // namespace gnomon::apps
