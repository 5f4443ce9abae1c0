#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/commands/peak_memory.h"
#include "apps/compute/device_flags.h"
#include "apps/compute/open_data.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/tuning_text.h"
#include "apps/text/validation_text.h"
#include "base/error.h"
#include "base/output_file.h"
#include "profiles/profile.h"
#include "tuner/run/validation.h"

namespace gnomon::apps {
namespace {

struct ValidateFlags {
  std::string data;
  std::string profile;
  std::vector<std::string> plans;
  std::string correct;
  std::string peak_memory_of;
  int epochs = 0;
  bool only_times = false;
  DeviceFlags device;
  bool json = false;
};

/// A profile of another graph or machine would make the comparison meaningless.
void check_fits(const ValidateFlags& options, const profiles::Profile& profile, const graph::Graph& graph,
                const plan::Cores& cores) {
  const auto& workload = profile.workload;
  if (workload.vertices != graph.num_vertices() || workload.edges != graph.num_edges()) {
    throw base::InputError(options.profile + ": workload.vertices",
                           fmt::format("{} vertices and {} edges are not those of {} ({} and {}); measure it "
                                       "with: gnomon profile {} -o {}",
                                       workload.vertices, workload.edges, options.data, graph.num_vertices(),
                                       graph.num_edges(), options.data, options.profile));
  }
  if (profile.machine.device.kind != cores.device) {
    throw base::InputError(
        options.profile + ": machine.device.kind",
        fmt::format("the profile is of a device of kind \"{}\", and --device {} is one of kind \"{}\"; use "
                    "the --device that was profiled",
                    base::name_of(profile.machine.device.kind), options.device.device,
                    base::name_of(cores.device)));
  }
  if (profile.machine.cpu.cores != cores.count) {
    throw base::InputError(options.profile + ": machine.cpu.cores",
                           fmt::format("{} is not this machine's {}; measure here with: gnomon profile",
                                       profile.machine.cpu.cores, cores.count));
  }
}

std::vector<tuner::Validated> validate_with_bar(const ValidateFlags& given, const graph::Graph& graph,
                                                const profiles::Profile& profile,
                                                const std::vector<plan::Plan>& plans,
                                                const runtime::DeviceOptions& device) {
  ProgressBar bar;
  tuner::ValidationOptions options;
  if (given.epochs > 0) {
    options.rounds = tuner::Rounds::exactly(given.epochs);
  }
  if (!given.only_times) {
    options.peak_memory = [&](const plan::Plan& plan) {
      return peak_memory({"validate", given.data, given.profile}, given.device, profile.workload.job, plan);
    };
  }
  options.device = device;
  options.progress = bar.progress();
  options.stop = &stop_on_interrupt();
  return tuner::validate(graph, profile, plans, options);
}

void validate(const ValidateFlags& options) {
  auto profile = profiles::read_profile(options.profile);
  const auto device = device_of(options.device);
  const auto cores = cores_with(device);
  std::vector<plan::Plan> plans;
  for (const auto& name : options.plans) {
    plans.push_back(plan::resolve(plan::find_plan(name), cores, name));
    plan::check_executed(plans.back(), plan::abilities_of(cores.device), "plan \"" + name + "\"");
  }
  if (plans.empty()) {
    plans = tuner::plans_to_validate(cores);
  }
  const auto graph = open_training_data(options.data, profile.workload.job);
  check_fits(options, profile, graph, cores);
  if (!options.peak_memory_of.empty()) {
    print_peak_memory(options.peak_memory_of, graph, device);
    return;
  }
  const auto results = validate_with_bar(options, graph, profile, plans, device);
  tuner::add_to_history(results, profile);
  const auto before = corrections_text(profile.corrections);
  if (!options.correct.empty()) {
    profile.corrections = tuner::corrections_by(results, profile);
    profile.prediction_error = tuner::prediction_error_by(results, profile);
    base::write_output(options.correct, [&](const auto& file) { base::write_document(file, profile); });
  }
  if (options.json) {
    print_json(to_document(results, options.data, options.profile));
    return;
  }
  std::cout << (before.empty() ? "" : "predictions are " + before) << validation_text(results)
            << fmt::format("mean absolute error {}\n", format_percent(tuner::mean_absolute_error(results)));
  if (!options.correct.empty()) {
    std::cout << "written to " << options.correct << ", " << corrections_text(profile.corrections)
              << fmt::format("corrected predictions are off by {} (root mean square)\n",
                             format_percent(*profile.prediction_error));
  }
}

}  // namespace

Action add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateFlags>();
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("PROFILE", options->profile,
                 "Profile of the graph, written by gnomon profile on this machine")
      ->required();
  app.add_option("--plans", options->plans,
                 "Presets or plan files, separated by commas (default: at least eight plans)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_device_flags(app, options->device);
  app.add_option("--epochs", options->epochs,
                 "Epochs of each plan, of which the median is reported\n(default: at least 3, and as many as "
                 "take 2 seconds)")
      ->check(in_range(1, 1000));
  app.add_flag("--only-times", options->only_times, "Do not measure peak memory");
  add_output(app, "--correct", options->correct,
             "Write the profile, corrected by the measured stage times, to this file, for tune, explore and "
             "validate");
  add_peak_memory_option(app, options->peak_memory_of);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { validate(*options); };
}

}  // namespace gnomon::apps
