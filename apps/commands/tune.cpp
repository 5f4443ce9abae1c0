#include "tuner/tune.h"

#include <iostream>
#include <limits>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/output_flag.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/tuning_text.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/usable.h"

namespace gnomon::apps {
namespace {

struct Options {
  std::string profile;
  std::string out;
  std::string strategy = "auto";
  std::string budget = "100";
  int processes = 0;
  tuner::TuningOptions tuning;
  bool json = false;
};

/// "200" evaluations, or "2.5s".
tuner::Budget budget_of(const std::string& text) {
  const bool is_time = text.ends_with('s');
  const std::string number = is_time ? text.substr(0, text.size() - 1) : text;
  const base::Json json = base::Json::parse(number, nullptr, false);
  tuner::Budget budget;
  if (is_time && json.is_number() && json.get<double>() > 0) {
    budget.seconds = json.get<double>();
    budget.evaluations = std::numeric_limits<int>::max();
  } else if (!is_time && json.is_number_integer() && json.get<double>() > 0 && json.get<double>() < 1e9) {
    budget.evaluations = json.get<int>();
  } else {
    throw base::InputError("--budget",
                           "\"" + text + "\" is neither a number of evaluations (200) nor seconds (2.5s)");
  }
  return budget;
}

/// tune() checks the same, but cannot name the flags.
void check_flags(const tuner::TuningOptions& options) {
  if (options.surrogate.empty() && options.accuracy_floor > 0) {
    throw base::InputError("--accuracy-floor", "needs --surrogate, a file that predicts accuracy");
  }
  if (!options.surrogate.empty() && !options.approximate) {
    throw base::InputError("--surrogate", "predicts approximate plans; use it with --allow-approximate");
  }
}

tuner::Tuning tune_with_bar(const profiles::Profile& profile, const tuner::TuningOptions& options) {
  ProgressBar bar;
  return tuner::tune(profile, options, {}, bar.progress(), &stop_on_interrupt());
}

void tune(const Options& options) {
  check_flags(options.tuning);
  tuner::TuningOptions how = options.tuning;
  how.strategy = base::value_of<tuner::StrategyKind>("--strategy", options.strategy);
  how.budget = budget_of(options.budget);
  how.processes = options.processes > 0 ? options.processes : base::usable_cores();
  const auto profile = profiles::read_profile(options.profile);
  const auto result = tune_with_bar(profile, how);
  if (!options.out.empty()) {
    base::write_output(options.out,
                       [&](const auto& file) { base::write_document(file, result.best().plan); });
  }
  if (options.json) {
    print_json(to_document(result));
    return;
  }
  std::cout << tuning_text(result);
  if (!options.out.empty()) {
    std::cout << "written to " << options.out << "\n";
  }
}

}  // namespace

Action add_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PROFILE", options->profile, "Profile written by gnomon profile")->required();
  add_output(app, "-o,--out", options->out, "Write the best plan to this file");
  app.add_option("--strategy", options->strategy,
                 "Search strategy: auto, gp, trees, ppo, dispatcher, sobol, random or exhaustive");
  app.add_option("--budget", options->budget, "Maximum number of simulated epochs (200) or seconds (2.5s)");
  app.add_option("--processes", options->processes,
                 "Processes that simulate in parallel (default: one for each core); the result is the same")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options->tuning.seed, "Random seed of the search");
  app.add_option("--journal", options->tuning.journal,
                 "Record simulated epochs in this file, and resume from it if it exists");
  add_size(app, "--device-memory", options->tuning.limits.device_bytes, "Maximum memory of each device");
  add_size(app, "--host-memory", options->tuning.limits.host_bytes, "Maximum memory of the host");
  app.add_option("--energy-limit", options->tuning.consumption.energy_j,
                 "Maximum energy of an epoch in joules; the profile must hold the machine's power")
      ->check(CLI::PositiveNumber);
  app.add_option("--price-limit", options->tuning.consumption.price,
                 "Maximum price of an epoch; the profile must hold the machine's price per hour")
      ->check(CLI::PositiveNumber);
  app.add_flag("--front", options->tuning.front,
               "Also print the Pareto front: plans that no other beats in time, memory and (with "
               "--surrogate) accuracy");
  app.add_flag("--allow-approximate", options->tuning.approximate,
               "Also consider approximate plans, which change what is trained");
  app.add_option(
      "--surrogate", options->tuning.surrogate,
      "Predict the accuracy of approximate plans by this file, written by gnomon surrogate learn --runs");
  app.add_option("--accuracy-floor", options->tuning.accuracy_floor,
                 "Minimum predicted accuracy of approximate plans, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--simulated", options->tuning.simulated, "Also consider plans that can only be simulated");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { tune(*options); };
}

}  // namespace gnomon::apps
