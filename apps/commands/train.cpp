#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "apps/commands/commands.h"
#include "apps/compute/device_flags.h"
#include "apps/compute/open_data.h"
#include "apps/console.h"
#include "apps/flags/evaluation_flag.h"
#include "apps/flags/job_flags.h"
#include "apps/flags/output_flag.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/text/output.h"
#include "apps/text/replanning_text.h"
#include "apps/text/training_text.h"
#include "base/error.h"
#include "plan/default_plan.h"
#include "plan/plan.h"
#include "tuner/run/replanned_training.h"
#include "tuner/run/resumed_plan.h"
#include "tuner/run/training.h"

namespace gnomon::apps {
namespace {

struct TrainFlags {
  explicit TrainFlags(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string plan;
  std::string run;
  std::string replay;
  std::string replan;
  std::string trace;
  std::string predictions;
  std::string tensorboard;
  std::int64_t evaluate_every = 1;
  std::int64_t host_memory = 0;
  bool resume = false;
  bool overwrite = false;
  bool adapt_hot_ratio = false;
  bool json = false;
  DeviceFlags device;
  JobFlags job;
};

/// A resumed run takes job and plan from its directory, unless the command line gives them again.
void take_from_run(const TrainFlags& options, tuner::TrainingRun& run) {
  if (options.run.empty()) {
    throw base::InputError("--resume", "needs --run DIR, the directory of the run to resume");
  }
  for (const auto& file : {run.files.job(), run.files.plan()}) {
    if (!std::filesystem::exists(file)) {
      throw base::InputError(options.run,
                             "holds no run to resume (" + file.filename().string() + " is missing)");
    }
  }
  if (!std::filesystem::exists(run.files.checkpoint()) && std::filesystem::exists(run.files.report())) {
    throw base::InputError(options.run,
                           "has ended, and its checkpoint.pt, from which it could go on, is missing; train "
                           "anew with --overwrite or in another directory");
  }
  run.job = options.job.job_over(base::read_document<plan::Job>(run.files.job()));
  run.plan = plan::read_plan(run.files.plan());
  if (!options.plan.empty()) {
    const auto plan = plan::find_plan(options.plan);
    tuner::check_resumed_plan(run.plan, plan, options.run);
    run.plan = plan;
  }
}

/// The plan of the command line, or the best guess for this machine; `why` says why it was taken.
plan::Plan chosen_plan(const std::string& asked, const plan::Cores& cores, std::string& why) {
  if (!asked.empty()) {
    return plan::find_plan(asked);
  }
  const auto taken = plan::default_plan(cores);
  why = "plan " + taken.name + ": " + taken.why + " (--plan takes another)\n";
  return plan::find_plan(taken.name);
}

/// `why` says why the plan was taken if it was not asked for.
tuner::TrainingRun run_of(const TrainFlags& options, std::string& why) {
  tuner::TrainingRun run;
  run.data = options.data;
  run.resume = options.resume;
  run.replay = options.replay;
  run.adapt_hot_ratio = options.adapt_hot_ratio;
  run.predictions = options.predictions;
  run.tensorboard = options.tensorboard;
  run.evaluate_every = options.evaluate_every;
  run.device = device_of(options.device);
  run.device.host_bytes = options.host_memory;
  const auto cores = cores_with(run.device);
  if (options.resume) {
    run.files = {options.run};
    take_from_run(options, run);
  } else {
    run.job = options.job.job();
    run.plan = chosen_plan(options.plan, cores, why);
  }
  plan::check_executed(run.plan, plan::abilities_of(cores.device), "plan \"" + run.plan.name + "\"");
  run.plan = plan::resolve(run.plan, cores, "plan " + run.plan.name);
  return run;
}

/// Trains with a progress bar and a table row for each epoch, and one for each comparison of plans, with
/// `profile`. After Ctrl-C it says how to resume.
tuner::ReplannedTraining train_with_table(const graph::Graph& graph, tuner::TrainingRun& run,
                                          const std::optional<profiles::Profile>& profile,
                                          const std::string& why, bool quiet) {
  Console console(quiet);
  std::string heading = epoch_heading(run.job.metrics);  // printed with the first epoch
  if (!why.empty()) {
    console.say(why);
  }
  run.progress = console.progress();
  run.stop = &stop_on_interrupt();
  run.on_epoch = [&](const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation) {
    console.say(std::exchange(heading, "") + epoch_row(epoch, utilisation));
  };
  try {
    if (!profile) {
      return {tuner::run_training(graph, run), {}};
    }
    return tuner::train_replanning(graph, run, *profile, {}, [&](const tuner::Replanned& replanned) {
      console.say(replanned_text(replanned));
    });
  } catch (const base::Interrupted&) {
    console.wipe();
    std::cerr << resume_text(run.data, run.files.directory);
    throw;
  }
}

void print_result(const TrainFlags& options, const tuner::TrainingRun& run,
                  const tuner::ReplannedTraining& result) {
  if (options.json) {
    auto document = to_document(result.training);
    if (!options.replan.empty()) {
      document["replanning"] = base::to_document(tuner::ReplanningLog{result.log});
    }
    print_json(document);
  } else {
    std::cout << training_text(run, result.training);
  }
  if (!result.training.unwritten.empty()) {
    throw base::Failure(result.training.unwritten);
  }
}

void train(const TrainFlags& options) {
  const auto existing = options.overwrite ? tuner::ExistingRun::overwrite : tuner::ExistingRun::refuse;
  if (!options.resume) {
    tuner::check_run_directory(options.run, existing);
  }
  std::string why;
  auto run = run_of(options, why);
  const auto graph = open_training_data(options.data, run.job, &run.plan);
  if (!options.resume) {
    options.job.fit_to(graph, run.job);
  }
  tuner::check_training(graph, run);
  std::optional<profiles::Profile> profile;
  if (!options.replan.empty()) {
    profile = profiles::read_profile(options.replan);
    tuner::check_replanning(*profile, graph, run);
  }
  if (!options.resume) {
    run.files = tuner::make_run_directory(options.run, options.data, existing);
  }
  run.trace = options.trace.empty() ? run.files.trace() : std::filesystem::path(options.trace);
  print_result(options, run, train_with_table(graph, run, profile, why, options.json));
}

}  // namespace

Action add_train(CLI::App& app) {
  auto options = std::make_shared<TrainFlags>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--plan", options->plan,
                 "Preset or plan file (default: chosen for this machine, see docs/plans.md)");
  app.add_option("--run", options->run,
                 "Directory for checkpoints and documents (default: runs/DATA-1, runs/DATA-2, ...)");
  add_device_flags(app, options->device);
  auto* resume = app.add_flag("--resume", options->resume, "Resume from the last checkpoint of --run");
  app.add_flag("--overwrite", options->overwrite,
               "Replace the run in --run; other files in the directory are kept")
      ->excludes(resume);
  add_size(app, "--host-memory", options->host_memory,
           "Maximum memory of the host, for plans that leave features or topology on the disk (default: what "
           "is available)");
  add_evaluate_every(app, options->evaluate_every);
  app.add_option("--replay", options->replay, "Replay the update order recorded in this order.jsonl");
  app.add_option("--replan", options->replan,
                 "Re-plan with this profile of the same graph and job: if measured times deviate from the "
                 "prediction, change to a faster plan with the same weights")
      ->type_name("PROFILE");
  app.add_flag("--adapt-hot-ratio", options->adapt_hot_ratio,
               "Plans that reuse hot embeddings: adapt their number to the speed of the CPU; the result then "
               "depends on timing and can be replayed from its order.jsonl");
  add_output(app, "--predictions", options->predictions,
             "Write the predicted class of each vertex to this CSV file, by original vertex id");
  app.add_option("--tensorboard", options->tensorboard,
                 "Write losses, metrics and times to event files for TensorBoard in this directory");
  add_output(app, "--trace", options->trace,
             "Write the last epoch's timeline to this file instead of the run's trace.json");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { train(*options); };
}

}  // namespace gnomon::apps
