#include "tuner/run/replanned_training.h"

#include <string>
#include <utility>

#include "base/document.h"
#include "base/error.h"
#include "plan/exactness.h"
#include "tuner/run/profile_checks.h"

namespace gnomon::tuner {

void check_replanning(const profiles::Profile& profile, const graph::Graph& graph, const TrainingRun& run) {
  check_profile_of(profile, graph, run.job);
  if (profile.machine.device.kind != run.device.kind) {
    throw base::InputError("profile: machine.device.kind",
                           "\"" + std::string(base::name_of(profile.machine.device.kind)) +
                               "\" is not the training's \"" + std::string(base::name_of(run.device.kind)) +
                               "\"");
  }
  check_cores_of(profile);
  if (plan::exactness_of(run.plan) != plan::Exactness::bits || !run.replay.empty()) {
    throw base::InputError("plan \"" + run.plan.name + "\"",
                           run.replay.empty() ? "does not end with the same bits as other plans, so no other "
                                                "plan can take over; use one that is \"exact: bits\""
                                              : "follows a recorded order; leave out the replay");
  }
}

Stretches stretches_of(Replanner& replanner, const RunFiles& files,
                       const std::function<void(const Replanned&)>& on_replanned) {
  const auto on_stretch = [&replanner, files, on_replanned, told = std::size_t{0},
                           effects = std::size_t{0}](const runtime::StretchReport& report) mutable {
    replanner.on_stretch(report);
    if (replanner.known_effects() > effects) {  // of the last finished comparison
      effects = replanner.known_effects();
      base::write_document(files.replanning(), ReplanningLog{replanner.log()});
      if (on_replanned) {
        on_replanned(replanner.log()[told - 1]);
      }
    }
    for (; told < replanner.finished(); ++told) {
      const auto& replanned = replanner.log()[told];
      if (replanned.is_change()) {
        base::write_document(files.plan(), replanner.plan());
      }
      base::write_document(files.replanning(), ReplanningLog{replanner.log()});
      if (on_replanned) {
        on_replanned(replanned);
      }
    }
  };
  return {[&replanner](std::int64_t left) { return replanner.next_stretch(left); }, on_stretch};
}

ReplannedTraining train_replanning(const graph::Graph& graph, TrainingRun run,
                                   const profiles::Profile& profile, const ReplanningTerms& terms,
                                   const std::function<void(const Replanned&)>& on_replanned) {
  check_replanning(profile, graph, run);
  Replanner replanner(profile, run.plan, run.job.epochs, terms);
  auto stretches = stretches_of(replanner, run.files, on_replanned);
  run.next_stretch = std::move(stretches.next);
  run.on_stretch = std::move(stretches.on_stretch);
  auto training = run_training(graph, run);
  return {std::move(training), replanner.log()};
}

}  // namespace gnomon::tuner
