#include "tuner/run/autotune.h"

#include <cstdint>
#include <memory>

#include "apps/commands/autotune_run.h"
#include "apps/commands/commands.h"
#include "apps/compute/open_data.h"
#include "apps/flags/evaluation_flag.h"
#include "apps/flags/job_flags.h"
#include "apps/flags/number_checks.h"
#include "profiles/catalog.h"
#include "reproduce/paper_profiles.h"
#include "tuner/run/profile_checks.h"

namespace gnomon::apps {
namespace {

struct AutotuneFlags {
  explicit AutotuneFlags(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string run;
  bool overwrite = false;
  std::string profile;
  std::string machine;
  double profile_share = 0.05;
  std::string measure_order = "value";
  bool replan = false;
  std::int64_t evaluate_every = 1;
  MeasureFlags measure;
  bool json = false;
  JobFlags job;
};

}  // namespace

Action add_autotune(CLI::App& app) {
  auto options = std::make_shared<AutotuneFlags>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--run", options->run,
                 "Directory for all documents (default: runs/DATA-1, runs/DATA-2, ...)");
  app.add_flag("--overwrite", options->overwrite,
               "Replace the run in --run; other files in the directory are kept");
  app.add_option("--profile", options->profile,
                 "Use this profile of the same graph and job instead of measuring: a file, or a paper's\n"
                 "workload (see gnomon catalog)");
  app.add_option("--machine", options->machine,
                 "Choose the plan for this machine (a name from gnomon catalog, or a machine file), "
                 "limited\nto the local cores");
  app.add_option(
         "--profile-share", options->profile_share,
         "Measure for at most this share of the estimated training time, or 2 seconds if that is more")
      ->check(in_range(0.0, 1.0));
  app.add_option(
         "--measure-order", options->measure_order,
         "Take those measurements first that are expected to improve the choice most per second (value),\n"
         "or any (random, for comparison)")
      ->check(CLI::IsMember({"value", "random"}));
  app.add_flag("--replan", options->replan,
               "Re-plan during the training: if measured times deviate from the prediction, change to a "
               "faster plan with the same weights");
  add_evaluate_every(app, options->evaluate_every);
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    auto job = options->job.job();
    const auto existing = options->overwrite ? tuner::ExistingRun::overwrite : tuner::ExistingRun::refuse;
    tuner::check_run_directory(options->run, existing);
    const auto graph = open_training_data(options->data, job);
    options->job.fit_to(graph, job);
    AutotuneRequest request{.data = options->data,
                            .files = {},
                            .job = job,
                            .measure = options->measure,
                            .profile_share = options->profile_share,
                            .measure_order = options->measure_order == "random" ? tuner::MeasureOrder::random
                                                                                : tuner::MeasureOrder::value,
                            .replan = options->replan,
                            .evaluate_every = options->evaluate_every,
                            .json = options->json};
    if (!options->profile.empty()) {
      request.profile = reproduce::find_profile(options->profile);
      tuner::check_profile_of(*request.profile, graph, job);
    }
    if (!options->machine.empty()) {
      request.machine = profiles::find_machine(options->machine).machine;
    }
    request.files = tuner::make_run_directory(options->run, options->data, existing);
    autotune_and_print(graph, request);
  };
}

}  // namespace gnomon::apps
