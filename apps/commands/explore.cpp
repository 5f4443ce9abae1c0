#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/exploration_text.h"
#include "apps/text/output.h"
#include "apps/text/page.h"
#include "apps/text/report.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/stop.h"
#include "base/usable.h"
#include "profiles/catalog.h"
#include "reproduce/explored_profile.h"
#include "tuner/explore/exploration.h"
#include "tuner/explore/tuned_plans.h"

namespace gnomon::apps {
namespace {

struct ExploreFlags {
  std::vector<std::string> profiles;
  std::vector<std::string> machines;
  std::string from;
  std::string plans = "all";
  std::string order = "epoch";
  std::vector<std::string> sweeps;
  std::uint64_t seed = 0;
  std::optional<int> epochs;
  std::optional<double> price_per_hour;
  bool json = false;
  bool csv = false;
  bool explain = false;
  std::string trace;
  std::string html;
  int jobs = 0;
};

/// The machines asked for; "all" stands for the whole catalog.
std::vector<std::string> machine_names(const std::vector<std::string>& asked) {
  if (asked != std::vector<std::string>{"all"}) {
    return asked;
  }
  std::vector<std::string> names;
  for (const auto& machine : profiles::catalog()) {
    names.push_back(machine.name);
  }
  return names;
}

/// The profile as it is, or on each of the machines.
void add_profile(tuner::ExplorationRequest& request, const std::string& name, const ExploreFlags& options) {
  std::vector<tuner::Setting> names;
  if (options.profiles.size() > 1) {
    names.push_back({"profile", name});
  }
  if (options.machines.empty()) {
    request.profiles.push_back(reproduce::explored_profile(name, "", names, options.from));
  }
  for (const auto& machine : machine_names(options.machines)) {
    auto both = names;
    both.push_back({"machine", machine});
    request.profiles.push_back(reproduce::explored_profile(name, machine, std::move(both), options.from));
  }
}

/// The name that stands for the tuned plan of each profile.
constexpr std::string_view tuned = "tuned";

/// The plans of --plan, without `tuned`, and whether it was named.
struct PlanNames {
  explicit PlanNames(const ExploreFlags& options) {
    const std::string& list = options.plans;
    for (std::size_t begin = 0; begin <= list.size();) {
      const auto end = std::min(list.find(',', begin), list.size());
      const auto name = list.substr(begin, end - begin);
      is_tuned = is_tuned || name == tuned;
      others += name == tuned ? "" : (others.empty() ? "" : ",") + name;
      is_other = is_other || name != tuned;
      begin = end + 1;
    }
  }
  bool is_tuned = false;
  bool is_other = false;
  std::string others;
};

tuner::ExplorationRequest request_of(const ExploreFlags& options) {
  tuner::ExplorationRequest request;
  for (const auto& name : options.profiles) {
    add_profile(request, name, options);
  }
  for (auto& explored : request.profiles) {
    if (options.price_per_hour) {
      explored.document["machine"]["running"]["price_per_hour"] = *options.price_per_hour;
    }
  }
  const PlanNames plans(options);
  if (plans.is_tuned && !options.sweeps.empty()) {
    throw base::InputError("--plan", "tuned cannot be combined with --set; name the plans to try");
  }
  request.plans = plans.is_other ? tuner::plans_of(plans.others) : std::vector<plan::Plan>{};
  request.epochs = options.epochs;
  for (const auto& sweep : options.sweeps) {
    request.sweeps.push_back(tuner::parse_sweep(sweep));
  }
  request.seed = options.seed;
  request.jobs = options.jobs;
  request.with_explanation = options.explain;
  const auto rows =
      request.profiles.size() * request.plans.size() * tuner::combinations(request.sweeps).size();
  request.with_timeline = !options.trace.empty() || (!options.html.empty() && rows <= max_timelines);
  return request;
}

tuner::TuningOptions tuning_of(const ExploreFlags& options) {
  constexpr int evaluations = 12;
  tuner::TuningOptions tuning;
  tuning.budget.emplace();
  tuning.budget->evaluations = evaluations;
  tuning.seed = options.seed;
  tuning.processes = options.jobs > 0 ? options.jobs : base::usable_cores();
  return tuning;
}

/// Writes page and trace. Returns why one could not be written, and where it is kept.
std::string write_files(const ExploreFlags& options, const std::vector<tuner::ExplorationRow>& rows,
                        tuner::RowOrder order) {
  std::string unwritten;
  if (!options.html.empty()) {
    unwritten =
        base::try_write_output(options.html, [&](const auto& file) { write_report(file, rows, order); });
  }
  if (!options.trace.empty()) {
    const auto timelines = tuner::timelines_of(rows);
    const auto fault = base::try_write_output(
        options.trace, [&](const auto& file) { schedule::write_trace(file, timelines); });
    unwritten += (unwritten.empty() || fault.empty() ? "" : "; ") + fault;
  }
  return unwritten;
}

/// How the stages of each moved profile were scaled.
base::Json moved_document(const tuner::ExplorationRequest& request) {
  base::Json moved = base::Json::array();
  for (const auto& explored : request.profiles) {
    if (!explored.scalings.empty()) {
      base::Json entry = {{"profile", explored.where}};
      for (const auto& name : explored.names) {
        entry[name.path] = name.value;
      }
      entry["stages"] = base::write_value(explored.scalings, base::Absent::as_null);
      moved.push_back(std::move(entry));
    }
  }
  return moved;
}

/// The rows, with their explanations if these were requested.
base::Json rows_document(const std::vector<tuner::ExplorationRow>& rows, bool explain) {
  auto flat = base::Json(tuner::flat_rows(rows));
  for (std::size_t i = 0; explain && i < rows.size(); ++i) {
    flat[i]["explanation"] = rows[i].explanation;
  }
  return flat;
}

void explore_and_print(const ExploreFlags& options) {
  if (!options.html.empty()) {
    require_charts();
  }
  const auto order = base::value_of<tuner::RowOrder>("--sort", options.order);
  auto request = request_of(options);
  std::vector<tuner::ExplorationRow> rows;
  {
    ProgressBar bar;
    const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
    if (PlanNames(options).is_tuned) {
      tuner::add_tuned_plans(request, tuning_of(options), progress, &stop_on_interrupt());
    }
    rows = tuner::explore(request, progress);
  }
  const auto unwritten = write_files(options, rows, order);
  if (options.json) {
    print_json({{"schema", "gnomon.exploration/1"},
                {"profiles", options.profiles},
                {"rows", rows_document(rows, options.explain)},
                {"moved", moved_document(request)}});
  } else if (options.csv) {
    std::cout << base::csv_of(tuner::flat_rows(rows));
  } else {
    std::cout << exploration_text(rows, order) << explanations_text(rows, order);
  }
  if (!unwritten.empty()) {
    throw base::Failure(unwritten);
  }
}

}  // namespace

Action add_explore(CLI::App& app) {
  auto options = std::make_shared<ExploreFlags>();
  app.add_option("PROFILE", options->profiles,
                 "Profile written by gnomon profile, or a paper's workload (see gnomon catalog)")
      ->required();
  app.add_option(
         "--machine", options->machines,
         "Scale the profile to these machines: names from gnomon catalog or machine files, separated\n"
         "by commas, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--from", options->from,
      "Document of the machine on which the profile was measured (gnomon machine), if the profile\n"
      "holds none: stage times are scaled by operation counts and both machines' measured speeds");
  app.add_option("--plan", options->plans,
                 "Presets and plan files (.json), separated by commas; all; or tuned, the plan that gnomon "
                 "tune\nfinds for each machine (a few seconds each)");
  app.add_option("--epochs", options->epochs, "Epochs of the whole training (default: the job's)")
      ->check(in_range(1, 1000000));
  app.add_option("--price-per-hour", options->price_per_hour,
                 "Price of the machine per hour, in any currency, instead of the profile's or the catalog's")
      ->check(non_negative());
  app.add_option("--set", options->sweeps,
                 "Try these values of a profile field, or of a plan field as plan.FIELD: PATH=v1,v2,\n"
                 "PATH=lo:hi:step or PATH=lo:hi:*factor; repeat --set to try all combinations")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--sort", options->order, "Sort rows by epoch (time) or price (per epoch)");
  app.add_option("--seed", options->seed, "Random seed of the simulated variation between mini-batches");
  add_output(app, "--trace", options->trace, "Write all timelines to this file, for ui.perfetto.dev");
  add_output(app, "--html", options->html,
             "Write a page with charts to this file; it opens without network access");
  app.add_option("--jobs", options->jobs, "Processes that simulate in parallel (default: one for each core)")
      ->check(in_range(1, 1024));
  auto* explain =
      app.add_flag("--explain", options->explain,
                   "Print for each row the chain from counts of operations over speeds, stage times and\n"
                   "speed-ups to the epoch; in the JSON document as the rows' explanation");
  auto* json = app.add_flag("--json", options->json, "Print one JSON document");
  app.add_flag("--csv", options->csv, "Print comma-separated values")->excludes(json)->excludes(explain);
  return [options] { explore_and_print(*options); };
}

}  // namespace gnomon::apps
