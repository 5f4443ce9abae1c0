#include "apps/commands/tune.h"

#include <iostream>
#include <limits>
#include <memory>
#include <utility>

#include "apps/commands/commands.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/tuning_text.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/usable.h"
#include "reproduce/explored_profile.h"
#include "reproduce/paper_profiles.h"
#include "sim/uncertainty.h"
#include "tuner/tune.h"

namespace gnomon::apps {
namespace {

struct ProfiledTuneFlags {
  std::string profile;
  std::string machine;
  std::string from;
  std::string device;  ///< for --help: gnomon-compute has the command with --device
  TuneFlags tune;
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

tuner::TuningOptions tuning_options_of(const TuneFlags& options) {
  check_flags(options.tuning);
  auto tuning = options.tuning;
  tuning.strategy = base::value_of<tuner::StrategyKind>("--strategy", options.strategy);
  if (!options.budget.empty()) {
    tuning.budget = budget_of(options.budget);
  }
  if (!options.exact.empty()) {
    tuning.exactness = base::value_of<plan::Exactness>("--exact", options.exact);
  }
  tuning.processes = options.processes > 0 ? options.processes : base::usable_cores();
  if (!options.out.empty()) {
    tuning.on_best = [file = options.out](const tuner::Candidate& best) {
      base::write_output(file, [&](const auto& path) { base::write_document(path, best.plan); });
    };
  }
  return tuning;
}

/// The profile, and how it was scaled to another machine.
profiles::MovedProfile tuned_profile(const ProfiledTuneFlags& options) {
  auto profile = reproduce::find_profile(options.profile);
  if (options.machine.empty() && !options.from.empty()) {
    throw base::InputError("--from",
                           "holds the speeds of the measured machine; name another machine with --machine");
  }
  return options.machine.empty() ? profiles::MovedProfile{std::move(profile), {}}
                                 : reproduce::moved_profile(profile, options.machine, options.from);
}

tuner::Tuning tune_with_bar(const profiles::Profile& profile, const tuner::TuningOptions& options) {
  ProgressBar bar;
  return tuner::tune(profile, options, {}, bar.progress(), &stop_on_interrupt());
}

}  // namespace

void check_tune_flags(const TuneFlags& flags) { tuning_options_of(flags); }

void tune_and_print(const TuneFlags& flags, const profiles::MovedProfile& moved, const std::string& where,
                    const std::string& machine) {
  auto how = tuning_options_of(flags);
  sim::check_precision(moved.profile, where);
  bool is_written = false;
  if (how.on_best) {
    how.on_best = [&is_written, write = how.on_best](const tuner::Candidate& best) {
      write(best);
      is_written = true;
    };
  }
  try {
    const auto result = tune_with_bar(moved.profile, how);
    if (flags.json) {
      print_json(to_document(result));
      return;
    }
    std::cout << moved_text(machine, moved.scalings) << tuning_text(result);
  } catch (const base::Interrupted&) {
    if (is_written) {
      throw base::Interrupted("the plan that was found is in " + flags.out);
    }
    throw;
  }
  if (is_written) {
    std::cout << "written to " << flags.out << "\n";
  }
}

void add_tune_flags(CLI::App& app, TuneFlags& flags) {
  add_output(app, "-o,--out", flags.out, "Write the best plan to this file");
  app.add_option("--strategy", flags.strategy,
                 "Search strategy: auto, gp, trees, ppo, dispatcher, sobol, random or exhaustive");
  app.add_option(
      "--budget", flags.budget,
      "Maximum number of simulated epochs (as in 200) or seconds (2.5s); default: 100, or every plan\n"
      "with --strategy exhaustive");
  app.add_option("--processes", flags.processes,
                 "Processes that simulate in parallel (default: one for each core); the result is the same")
      ->check(in_range(1, 256));
  app.add_option("--journal", flags.tuning.journal,
                 "Record simulated epochs in this file, and resume from it if it exists");
  add_size(app, "--host-memory", flags.tuning.limits.host_bytes, "Maximum memory of the host");
  app.add_option("--energy-limit", flags.tuning.consumption.energy_j,
                 "Maximum energy of an epoch in joules; the profile must hold the machine's power")
      ->check(above_zero());
  app.add_option("--price-limit", flags.tuning.consumption.price,
                 "Maximum price of an epoch; the profile must hold the machine's price per hour")
      ->check(above_zero());
  app.add_flag("--front", flags.tuning.front,
               "Also print the Pareto front of time, memory and (with --surrogate) accuracy");
  auto* exact = app.add_option(
      "--exact", flags.exact,
      "Required exactness: bits (all such plans end with the same weights), order (repeated trainings\nend "
      "with the same weights; default) or batches (the same mini-batches in any order)");
  exact->check(CLI::IsMember({"bits", "order", "batches"}));
  app.add_flag("--allow-approximate", flags.tuning.approximate,
               "Also choose from approximate plans, which change the training")
      ->excludes(exact);
  app.add_option(
      "--surrogate", flags.tuning.surrogate,
      "Predict the accuracy of approximate plans by this file, written by gnomon surrogate learn --runs");
  app.add_option("--accuracy-floor", flags.tuning.accuracy_floor,
                 "Minimum predicted accuracy of approximate plans, 0 to 1")
      ->check(in_range(0.0, 1.0));
  app.add_flag("--simulated", flags.tuning.simulated, "Also consider plans that can only be simulated");
  app.add_flag("--json", flags.json, "Print one JSON document");
}

Action add_tune(CLI::App& app) {
  auto options = std::make_shared<ProfiledTuneFlags>();
  app.add_option(
         "PROFILE", options->profile,
         "Profile written by gnomon profile, or a paper's workload (see gnomon catalog); with --device\n"
         "a graph store")
      ->required();
  app.add_option("--machine", options->machine,
                 "Scale the profile to this machine: a name from gnomon catalog or a machine file");
  app.add_option(
      "--from", options->from,
      "Document of the machine on which the profile was measured (gnomon machine), if the profile holds\n"
      "none, to scale by the measured speeds of both machines");
  app.add_option(
      "--device", options->device,
      "First measure the graph store PROFILE on this device: cpu, gpu, auto, emulated or\n"
      "emulated:NAME; gnomon tune --device cpu --help lists the options of the job and the device");
  add_size(app, "--device-memory", options->tune.tuning.limits.device_bytes, "Maximum memory of each device");
  app.add_option("--seed", options->tune.tuning.seed, "Random seed of the search");
  add_tune_flags(app, options->tune);
  return [options] {
    tune_and_print(options->tune, tuned_profile(*options), options->profile, options->machine);
  };
}

}  // namespace gnomon::apps
