#include <iostream>
#include <memory>
#include <string>

#include "apps/commands/commands.h"
#include "apps/commands/tune.h"
#include "apps/compute/measure_flags.h"
#include "apps/compute/open_data.h"
#include "apps/flags/job_flags.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/profile_text.h"
#include "base/output_file.h"
#include "tuner/run/measure_for_choice.h"

namespace gnomon::apps {
namespace {

struct MeasuredTuneFlags {
  explicit MeasuredTuneFlags(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string profile;
  MeasureFlags measure;
  TuneFlags tune;
  JobFlags job;
};

profiles::Profile measured_profile(const MeasuredTuneFlags& options, const tuner::TuningOptions& tuning,
                                   const plan::Job& job) {
  const auto graph = open_training_data(options.data, job);
  ProgressBar bar;
  profiles::MeasureOptions how;
  how.asked_interval = options.measure.interval;
  how.time_limit_s = options.measure.time_limit_s;
  how.progress = bar.progress();
  how.stop = &stop_on_interrupt();
  how.device = device_of(options.measure.device);
  how.precise = how.all = false;
  return tuner::measure_for_choice(graph, job, how, tuning).profile;
}

void measure_and_tune(const MeasuredTuneFlags& options) {
  auto tune = options.tune;
  check_tune_flags(tune);
  const auto job = options.job.job();
  tune.tuning.seed = job.seed;
  const auto profile = measured_profile(options, tune.tuning, job);
  if (!options.profile.empty()) {
    base::write_output(options.profile, [&](const auto& file) { base::write_document(file, profile); });
  }
  if (!tune.json) {
    std::cout << text_of(profile) << "\n";
  }
  tune_and_print(tune, {profile, {}}, "the profile of " + options.data);
}

}  // namespace

Action add_measured_tune(CLI::App& app) {
  auto options = std::make_shared<MeasuredTuneFlags>(app);
  app.add_option("DATA", options->data, "Graph store, which is measured on the device first")->required();
  add_output(app, "--profile", options->profile, "Write the measured profile to this file");
  add_measure_flags(app, options->measure);
  add_tune_flags(app, options->tune);
  return [options] { measure_and_tune(*options); };
}

}  // namespace gnomon::apps
