#include <iostream>
#include <limits>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/output.h"
#include "apps/tuning.h"
#include "base/error.h"
#include "base/usable.h"

namespace gnomon::apps {
namespace {

struct Options {
  std::string profile;
  std::string out;
  std::string strategy = "auto";
  std::string budget = "100";
  int processes = 0;
  TuningOptions tuning;
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

void tune(const Options& options) {
  TuningOptions how = options.tuning;
  how.strategy = base::value_of<tuner::StrategyKind>("--strategy", options.strategy);
  how.budget = budget_of(options.budget);
  how.processes = options.processes > 0 ? options.processes : base::usable_cores();
  const auto profile = profiles::read_profile(options.profile);
  sim::Simulator simulator;
  const auto result = tune_with_bar(profile, simulator, how);
  if (!options.out.empty()) {
    base::write_document(options.out, result.best().plan);
  }
  if (options.json) {
    print_json(tuning_document(result));
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
  app.add_option("PROFILE", options->profile, "What gnomon profile wrote")->required();
  app.add_option("-o,--out", options->out, "Write the best plan to this file");
  app.add_option("--strategy", options->strategy,
                 "auto, gp, trees, ppo, dispatcher, sobol, random or exhaustive");
  app.add_option("--budget", options->budget, "Simulated epochs (200) or seconds (2.5s) at most");
  app.add_option("--processes", options->processes,
                 "Processes that simulate side by side; all cores when not given. The result is the same")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options->tuning.seed, "Seed of what is random in a search");
  app.add_option("--journal", options->tuning.journal,
                 "Write every simulated epoch to this file, and go on from what it holds");
  app.add_option("--device-memory", options->tuning.limits.device_bytes,
                 "Memory of each device that a plan may take at most: bytes, or 8GB, 500MB ...")
      ->transform(CLI::AsSizeValue(true));
  app.add_option("--host-memory", options->tuning.limits.host_bytes, "The host's, likewise")
      ->transform(CLI::AsSizeValue(true));
  app.add_option("--energy-limit", options->tuning.running.energy_j,
                 "Joules that an epoch may take at most, where the profile tells what the machine draws")
      ->check(CLI::PositiveNumber);
  app.add_option("--price-limit", options->tuning.running.price,
                 "What an epoch may cost at most, where the profile tells the machine's price")
      ->check(CLI::PositiveNumber);
  app.add_flag("--front", options->tuning.front,
               "Find plans for less memory too, and print those that no other beats in time, memory "
               "and (with --surrogate) accuracy");
  app.add_flag("--allow-approximate", options->tuning.approximate, "Plans too that change the training");
  app.add_option(
      "--surrogate", options->tuning.surrogate,
      "What surrogate learn --runs wrote: predicts the accuracy of plans that change the training");
  app.add_option("--accuracy-floor", options->tuning.accuracy_floor,
                 "Least predicted accuracy of such plans, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--simulated", options->tuning.simulated, "Plans too that can only be simulated");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { tune(*options); };
}

}  // namespace gnomon::apps
