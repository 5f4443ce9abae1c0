#include "apps/commands/autotune_run.h"

#include <iostream>

#include "apps/compute/autotuning_text.h"
#include "apps/console.h"
#include "apps/interrupt.h"
#include "apps/text/output.h"
#include "apps/text/profile_text.h"
#include "apps/text/replanning_text.h"
#include "apps/text/training_text.h"
#include "apps/text/tuning_text.h"
#include "base/error.h"
#include "tuner/run/autotune.h"

namespace gnomon::apps {
namespace {

std::string tuned_text(const tuner::Tuning& tuning, const tuner::Verification& verification,
                       const std::vector<plan::Metric>& metrics) {
  const auto& chosen = verification.best().name;
  return "Predicted\n" + tuning_text(tuning) + "\nTraining with plan " + chosen +
         (verification.is_over() ? "" : ", alternating with other plans until the fastest is found") + "\n" +
         epoch_heading(metrics);
}

/// Why measuring ended.
std::string stopped_text(const profiles::Profile& profile) {
  return profile.stopped_by == "interval" ? "all intervals are as narrow as asked"
         : profile.stopped_by == "regret" ? "more precision is not expected to change the choice"
                                          : "stopped by the time limit";
}

std::string heading_of(const AutotuneRequest& request, const profiles::Profile& profile) {
  const std::string machine = request.machine ? ", scaled to machine " + request.machine->name : "";
  return request.profile ? "Profile as given" + machine + "\n"
                         : "Measured (" + stopped_text(profile) + ")" + machine + "\n";
}

tuner::AutotuneOptions options_of(const AutotuneRequest& request, Console& console) {
  tuner::AutotuneOptions options;
  options.data = request.data;
  options.files = request.files;
  options.job = request.job;
  options.interval = request.measure.interval;
  options.time_limit_s = request.measure.time_limit_s;
  options.profile_share = request.profile_share;
  options.measure_order = request.measure_order;
  options.profile = request.profile;
  options.machine = request.machine;
  options.replan = request.replan;
  options.evaluate_every = request.evaluate_every;
  options.device = device_of(request.measure.device);
  options.progress = console.progress();
  options.stop = &stop_on_interrupt();
  options.on_profile = [&](const profiles::Profile& profile) {
    console.say(heading_of(request, profile) + text_of(profile) + "\n");
  };
  options.on_epoch = [&](const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation) {
    console.say(epoch_row(epoch, utilisation));
  };
  options.on_replanned = [&](const tuner::Replanned& of) { console.say(replanned_text(of)); };
  return options;
}

}  // namespace

void autotune_and_print(const graph::Graph& graph, const AutotuneRequest& request) {
  Console console(request.json);
  auto options = options_of(request, console);
  bool is_training = false;
  options.on_tuning = [&](const tuner::Tuning& tuning, const tuner::Verification& verification) {
    is_training = true;
    console.say(tuned_text(tuning, verification, request.job.metrics));
  };
  try {
    const auto result = tuner::autotune(graph, options);
    console.say("\nVerified\n" + verification_text(result.verification) +
                corrections_text(result.profile.corrections) +
                fidelities_text(result.tuning, result.verification.turns) + "\n\n" + autotuning_text(result));
    if (request.json) {
      print_json(to_document(result));
    }
    if (!result.training.unwritten.empty()) {
      throw base::Failure(result.training.unwritten);
    }
  } catch (const base::Interrupted&) {
    console.wipe();
    if (is_training) {
      std::cerr << resume_text(request.data, request.files.directory);
    }
    throw;
  }
}

}  // namespace gnomon::apps
