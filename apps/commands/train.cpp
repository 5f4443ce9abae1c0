#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/console.h"
#include "apps/flags/device_flags.h"
#include "apps/flags/job_flags.h"
#include "apps/interrupt.h"
#include "apps/open_data.h"
#include "apps/text/output.h"
#include "apps/text/training_text.h"
#include "base/error.h"
#include "plan/plan.h"
#include "schedule/timeline.h"
#include "tuner/run/training.h"

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
  std::string tensorboard;
  bool resume = false;
  bool json = false;
  DeviceFlags device;
  JobFlags job;
};

/// A resumed run takes job and plan from its directory, unless the command line gives them again.
void take_from_run(const Options& options, tuner::TrainingRun& run) {
  if (options.run.empty()) {
    throw base::InputError("--resume", "needs --run DIR, the directory of the run to resume");
  }
  if (!std::filesystem::exists(run.files.job()) || !std::filesystem::exists(run.files.plan())) {
    throw base::InputError(options.run, "holds no run to resume (job.json and plan.json are missing)");
  }
  run.job = options.job.job_over(base::read_document<plan::Job>(run.files.job()));
  run.plan = plan::find_plan(options.plan.empty() ? run.files.plan().string() : options.plan);
}

tuner::TrainingRun run_of(const Options& options) {
  tuner::TrainingRun run;
  run.data = options.data;
  run.resume = options.resume;
  run.replay = options.replay;
  run.predictions = options.predictions;
  run.tensorboard = options.tensorboard;
  if (options.resume) {
    run.files = {options.run};
    take_from_run(options, run);
  } else {
    run.job = options.job.job();
    run.plan = plan::find_plan(options.plan.empty() ? "gnomon" : options.plan);
  }
  run.device = device_of(options.device);
  const auto cores = cores_with(run.device);
  plan::check_executed(run.plan, plan::abilities_of(cores.device), "plan \"" + run.plan.name + "\"");
  run.plan = plan::resolve(run.plan, cores, "plan " + run.plan.name);
  return run;
}

/// Trains with a progress bar and a table row for each epoch. After Ctrl-C it says how to resume.
tuner::TrainingResult train_with_table(const graph::Graph& graph, tuner::TrainingRun& run, bool quiet) {
  Console console(quiet);
  console.say(epoch_heading(run.job.metrics));
  run.progress = console.progress();
  run.stop = &stop_on_interrupt();
  run.on_epoch = [&](const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation) {
    console.say(epoch_row(epoch, utilisation));
  };
  try {
    return tuner::run_training(graph, run);
  } catch (const base::Interrupted&) {
    console.wipe();
    std::cerr << resume_text(run.data, run.files.directory);
    throw;
  }
}

void train(const Options& options) {
  auto run = run_of(options);
  const auto graph = open_training_data(options.data, run.job);
  if (!options.resume) {
    run.files = tuner::make_run_directory(options.run, options.data);
  }
  const auto result = train_with_table(graph, run, options.json);
  const auto& report = result.report;
  const auto trace = options.trace.empty() ? run.files.trace() : std::filesystem::path(options.trace);
  if (!report.epochs.empty()) {
    schedule::write_trace(trace, {{"measured", report.epochs.back().timeline}});
  }
  if (options.json) {
    print_json(to_document(result));
    return;
  }
  std::cout << accuracy_text(report) << cache_text(report) << "run: " << run.files.directory.string()
            << ", trace: " << trace.string() << "\n";
}

}  // namespace

Action add_train(CLI::App& app) {
  auto options = std::make_shared<Options>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--plan", options->plan, "Preset or plan file (default: gnomon)");
  app.add_option("--run", options->run,
                 "Directory for checkpoints and documents (default: runs/DATA-1, runs/DATA-2, ...)");
  add_device_flags(app, options->device);
  app.add_flag("--resume", options->resume, "Resume from the last checkpoint of --run");
  app.add_option("--replay", options->replay, "Replay the update order recorded in this order.jsonl");
  app.add_option("--predictions", options->predictions,
                 "Write the predicted class of each vertex to this CSV file, by original vertex id");
  app.add_option("--tensorboard", options->tensorboard,
                 "Write losses, metrics and times to event files for TensorBoard in this directory");
  app.add_option("--trace", options->trace,
                 "Write the last epoch's timeline to this file instead of the run's trace.json");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { train(*options); };
}

}  // namespace gnomon::apps
