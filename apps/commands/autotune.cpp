#include <memory>

#include "apps/commands/autotune_run.h"
#include "apps/commands/commands.h"
#include "apps/flags/job_flags.h"
#include "apps/open_data.h"

namespace gnomon::apps {
namespace {

struct Options {
  explicit Options(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string run;
  bool overwrite = false;
  MeasureFlags measure;
  bool json = false;
  JobFlags job;
};

}  // namespace

Action add_autotune(CLI::App& app) {
  auto options = std::make_shared<Options>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--run", options->run,
                 "Directory for all documents (default: runs/DATA-1, runs/DATA-2, ...)");
  app.add_flag("--overwrite", options->overwrite,
               "Replace the run in --run; files that are not its own stay");
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    const auto job = options->job.job();
    const auto existing = options->overwrite ? tuner::ExistingRun::overwrite : tuner::ExistingRun::refuse;
    tuner::check_run_directory(options->run, existing);
    const auto graph = open_training_data(options->data, job);
    autotune_and_print(graph,
                       {options->data, tuner::make_run_directory(options->run, options->data, existing), job,
                        options->measure, options->json});
  };
}

}  // namespace gnomon::apps
