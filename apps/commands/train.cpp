#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/compute/device_flags.h"
#include "apps/compute/training_run.h"
#include "apps/job_flags.h"
#include "apps/open_data.h"
#include "apps/output.h"
#include "base/error.h"
#include "plan/plan.h"
#include "schedule/timeline.h"

namespace gnomon::apps {
namespace {

struct Options {
  explicit Options(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string plan;
  std::string run;
  std::string replay;
  std::string trace;
  std::string predictions;
  bool resume = false;
  bool json = false;
  DeviceFlags device;
  JobFlags job;
};

/// A run that goes on takes job and plan from its directory; the command line may name them again.
void take_from_run(const Options& options, TrainingRun& run) {
  if (options.run.empty()) {
    throw base::InputError("--resume", "needs --run DIR, the directory of the run that is to go on");
  }
  if (!std::filesystem::exists(run.files.job()) || !std::filesystem::exists(run.files.plan())) {
    throw base::InputError(options.run, "holds no run that could go on (job.json and plan.json are missing)");
  }
  run.job = options.job.job_over(base::read_document<plan::Job>(run.files.job()));
  run.plan = plan::find_plan(options.plan.empty() ? run.files.plan().string() : options.plan);
}

TrainingRun run_of(const Options& options) {
  TrainingRun run;
  run.data = options.data;
  run.resume = options.resume;
  run.replay = options.replay;
  run.predictions = options.predictions;
  run.quiet = options.json;
  if (options.resume) {
    run.files = {options.run};
    take_from_run(options, run);
  } else {
    run.job = options.job.job();
    run.plan = plan::find_plan(options.plan.empty() ? "gnomon" : options.plan);
  }
  run.device = device_of(options.device);
  if (const auto why = runtime::why_not_executed(run.plan, run.device); !why.empty()) {
    throw base::InputError("plan \"" + run.plan.name + "\"",
                           "simulated only: the runtime does not execute " + why + " yet");
  }
  run.plan = plan::resolve(run.plan, cores_with(run.device), "plan " + run.plan.name);
  return run;
}

void train(const Options& options) {
  auto run = run_of(options);
  const auto graph = open_training_data(options.data, run.job);
  if (!options.resume) {
    run.files = make_run_directory(options.run, options.data);
  }
  const auto result = train_with_table(graph, run);
  const auto& report = result.report;
  const auto trace = options.trace.empty() ? run.files.trace() : std::filesystem::path(options.trace);
  if (!report.epochs.empty()) {
    schedule::write_trace(trace, {{"measured", report.epochs.back().timeline}});
  }
  if (options.json) {
    print_json(to_document(run, result));
    return;
  }
  std::cout << accuracy_text(report) << cache_text(report) << "run: " << run.files.directory.string()
            << ", trace: " << trace.string() << "\n";
}

}  // namespace

Action add_train(CLI::App& app) {
  auto options = std::make_shared<Options>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--plan", options->plan, "Preset or plan file; gnomon when not given");
  app.add_option("--run", options->run,
                 "Directory for checkpoints and documents; runs/DATA-1, -2, ... when not given");
  add_device_flags(app, options->device);
  app.add_flag("--resume", options->resume, "Go on from the run's last checkpoint");
  app.add_option("--replay", options->replay, "Follow the update order of this order.jsonl");
  app.add_option("--predictions", options->predictions,
                 "Write the class predicted for each vertex here (CSV, the data's own ids)");
  app.add_option("--trace", options->trace,
                 "Write the last epoch's timeline here, not to the run's trace.json");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { train(*options); };
}

}  // namespace gnomon::apps
