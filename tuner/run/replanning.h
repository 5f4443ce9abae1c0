#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "profiles/profile.h"
#include "runtime/training/stretch.h"
#include "sim/simulator.h"
#include "tuner/run/training.h"
#include "tuner/verify/correction.h"
#include "tuner/verify/race.h"

namespace gnomon::tuner {

/// When a training may change its plan.
struct ReplanningTerms {
  double drift = 0.2;         ///< share of a stretch's time by which it differs from what is expected
  int drifted_stretches = 2;  ///< in a row before plans are compared: bursts pass by themselves
  double least_gain = 0.02;   ///< share of the time by which another plan must be faster
  double stretch_s = 1;       ///< minimum duration of a stretch
  /// Stretches after which a plan that was changed to is compared again, since stages that it leaves out may
  /// have recovered; twice as many after each time that it remains.
  int compared_after = 60;
};

/// A comparison of plans while a training goes on.
struct Replanned {
  std::int64_t epoch = 0;        ///< counted from 0; documents count from 1
  std::int64_t batches = 0;      ///< of the epoch that were trained before
  std::string from, to;          ///< plans; the same if the plan remains
  double drift = 1;              ///< measured over expected time of the stretches before
  profiles::Corrections stages;  ///< measured over profiled stage times
  double predicted_gain = 0;     ///< share of a mini-batch's time that `to` saves, by the corrected profile
  std::optional<double> gain{};  ///< as measured in turns; absent without any, or if the plan remains
  int turns = 0;                 ///< that the plans took
  double extra_s = 0;            ///< what these cost beyond the best plan's time

  bool is_change() const { return from != to; }
};

/// Plans that may take over from `plan` while a training goes on: those of the device that end with the same
/// bits, keep data and caches where they are, and differ in schedule, route, workers or threads. Resolved;
/// `plan` is the first.
std::vector<plan::Plan> plans_to_change_to(const plan::Plan& plan, const plan::Cores& cores);

/// Follows a training stretch by stretch. Where stretches take other times than expected, the measured stage
/// times correct the profile, the plans are predicted by it, and those that may be the best now take turns
/// (PlanRace). The best goes on, and what it takes is what is expected from then on. A stage that the last
/// stretches did not have is predicted to be as far off as the others in the mean.
class Replanner {
 public:
  /// `profile` is of this machine, graph and job; its corrections count. `first` trains in the order of the
  /// indices, `epochs` in all.
  Replanner(profiles::Profile profile, const plan::Plan& first, std::int64_t epochs,
            const ReplanningTerms& terms = {});

  /// For runtime::TrainOptions.
  runtime::Stretch next_stretch(std::int64_t left);
  void on_stretch(const runtime::StretchReport& report);

  const plan::Plan& plan() const { return plan_; }
  /// The comparisons so far; the last one may still go on.
  const std::vector<Replanned>& log() const { return log_; }
  /// Of these, how many have ended.
  std::size_t finished() const { return log_.size() - (race_ ? 1 : 0); }

 private:
  double predicted_s(const plan::Plan& plan, std::int64_t batches);
  double stretch_s(std::int64_t batches);
  void measure_stretch();
  void follow(const runtime::StretchReport& report);
  void compare_plans(double drift);
  std::vector<plan::Plan> candidates() const;
  void end_race();

  profiles::Profile profile_;
  profiles::Corrections at_first_;  ///< of the profile
  ReplanningTerms terms_;
  sim::Simulator simulator_;
  std::vector<plan::Plan> plans_;
  plan::Plan plan_;    ///< that goes on
  std::int64_t left_;  ///< mini-batches of the training
  std::int64_t epoch_ = -1;
  std::int64_t trained_ = 0;                  ///< mini-batches of this epoch
  std::int64_t stretch_batches_ = 0;          ///< of plan_
  std::map<std::int64_t, double> stretch_s_;  ///< of plan_ by profile_, by mini-batches
  double expected_ = 1;                       ///< time of plan_'s stretches over that by profile_
  int stretches_ = 0;                         ///< of plan_ since the last comparison
  int drifted_stretches_ = 0;                 ///< of these the last, in a row
  int compared_after_;
  std::vector<RealRun> recent_;  ///< the last stretches of plan_
  std::int64_t turn_batches_ = 1;
  std::optional<PlanRace> race_;  ///< while plans take turns
  bool in_turn_ = false;
  std::vector<Replanned> log_;
};

/// Throws InputError unless the profile is of the graph, the job, the run's kind of device and at most this
/// machine's cores, and the run's plan may be changed.
void check_replanning(const profiles::Profile& profile, const graph::Graph& graph, const TrainingRun& run);

/// The stretches of a TrainingRun.
struct Stretches {
  std::function<runtime::Stretch(std::int64_t left)> next;
  std::function<void(const runtime::StretchReport&)> on_stretch;
};

/// Those of a replanner, which must outlive them. Each change is written to the run's plan.json, so that a
/// resumed run goes on with it; each comparison to its replanning.json, and told to `on_replanned`.
Stretches stretches_of(Replanner& replanner, const RunFiles& files,
                       const std::function<void(const Replanned&)>& on_replanned = {});

/// A training whose plan follows the machine.
struct ReplannedTraining {
  TrainingResult training;
  std::vector<Replanned> log;
};

/// run_training() with a Replanner's stretches. Throws what check_replanning() throws.
ReplannedTraining train_replanning(const graph::Graph& graph, TrainingRun run,
                                   const profiles::Profile& profile, const ReplanningTerms& terms = {},
                                   const std::function<void(const Replanned&)>& on_replanned = {});

/// The document "gnomon.replanning/1".
base::Json to_document(const std::vector<Replanned>& log);

}  // namespace gnomon::tuner
