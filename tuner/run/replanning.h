#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiles/profile.h"
#include "runtime/training/stretch.h"
#include "sim/simulator.h"
#include "tuner/run/replanned.h"
#include "tuner/verify/correction.h"
#include "tuner/verify/race.h"

namespace gnomon::tuner {

/// Conditions under which a training changes its plan.
struct ReplanningTerms {
  double drift = 0.2;  ///< relative deviation of a stretch's time from the expected time
  /// Consecutive deviating stretches before plans are compared, so that bursts are ignored.
  int drifted_stretches = 2;
  double min_gain = 0.02;  ///< minimum relative gain of another plan
  double stretch_s = 1;    ///< minimum duration of a stretch
  /// Number of stretches after a change until plans are compared again, since stages that the plan does not
  /// use may have recovered; doubled each time that the plan remains the best.
  int compared_after = 60;
};

/// Monitors a training stretch by stretch. If stretches deviate from the expected time, the measured stage
/// times correct the profile, the plans are predicted again, and the most promising ones take turns
/// (PlanRace). The training continues with the best one, whose measured time becomes the expected time.
/// Stages that did not run in the last stretches are corrected by the mean correction of the others.
class Replanner {
 public:
  /// `profile` is of this machine, graph and job; its corrections are applied. `first` trains in index order,
  /// for `epochs` epochs in all.
  Replanner(profiles::Profile profile, const plan::Plan& first, std::int64_t epochs,
            const ReplanningTerms& terms = {});

  /// For runtime::TrainOptions.
  runtime::Stretch next_stretch(std::int64_t left);
  void on_stretch(const runtime::StretchReport& report);

  const plan::Plan& plan() const { return plan_; }
  /// The comparisons so far; the last one may be unfinished.
  const std::vector<Replanned>& log() const { return log_; }
  /// The number of changes of plan of which it is known what they brought.
  std::size_t known_effects() const;
  /// The number of finished comparisons.
  std::size_t finished() const { return log_.size() - (race_ ? 1 : 0); }

 private:
  double predicted_s(const plan::Plan& plan, std::int64_t batches);
  double stretch_s(std::int64_t batches);
  void measure_stretch();
  void follow(const runtime::StretchReport& report);
  void remember(const runtime::StretchReport& report);
  double recent_batch_s() const;
  void compare_plans(double drift);
  void end_race();

  profiles::Profile profile_;
  profiles::Corrections at_first_;  ///< of the profile
  ReplanningTerms terms_;
  sim::Simulator simulator_;
  std::vector<plan::Plan> plans_;
  plan::Plan plan_;    ///< the current plan
  std::int64_t left_;  ///< mini-batches of the training
  std::int64_t epoch_ = -1;
  std::int64_t trained_ = 0;                  ///< mini-batches of this epoch
  std::int64_t stretch_batches_ = 0;          ///< of plan_
  std::map<std::int64_t, double> stretch_s_;  ///< predicted for plan_ on profile_, by number of mini-batches
  double expected_ = 1;        ///< ratio of plan_'s expected stretch time to that predicted on profile_
  int stretches_ = 0;          ///< of plan_ since the last comparison
  int drifted_stretches_ = 0;  ///< consecutive, up to the last one
  int compared_after_;
  std::vector<RealRun> recent_;     ///< the last stretches of plan_
  std::vector<double> recent_s_;    ///< their seconds
  bool is_effect_awaited_ = false;  ///< of the last comparison, which changed the plan
  std::int64_t turn_batches_ = 1;
  std::optional<PlanRace> race_;  ///< while plans take turns
  bool in_turn_ = false;
  std::vector<Replanned> log_;
};

}  // namespace gnomon::tuner
