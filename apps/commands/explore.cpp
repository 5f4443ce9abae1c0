#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/exploration.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"

namespace gnomon::apps {
namespace {

struct Options {
  std::string profile;
  std::string plans = "all";
  std::vector<std::string> sweeps;
  std::uint64_t seed = 0;
  bool json = false;
  bool csv = false;
  std::string trace;
};

ExplorationRequest request_of(const Options& options) {
  profiles::read_profile(options.profile);  // its own errors first, without any change
  ExplorationRequest request;
  request.profile = base::parse_json(base::read_file(options.profile), options.profile);
  // Fields that the file leaves out can be set too.
  request.profile =
      base::to_document(base::from_document<profiles::Profile>(request.profile, options.profile));
  request.profile_name = options.profile;
  request.plans = plans_of(options.plans);
  for (const auto& sweep : options.sweeps) {
    request.sweeps.push_back(parse_sweep(sweep));
  }
  request.seed = options.seed;
  request.with_timeline = !options.trace.empty();
  return request;
}

void explore_and_print(const Options& options) {
  std::vector<ExplorationRow> rows;
  {
    ProgressBar bar;
    rows = explore(request_of(options), interruptible(bar.progress(), stop_on_interrupt()));
  }
  if (!options.trace.empty()) {
    schedule::write_trace(options.trace, timelines_of(rows));
  }
  if (options.json) {
    print_json({{"schema", "gnomon.exploration/1"}, {"profile", options.profile}, {"rows", flat_rows(rows)}});
  } else if (options.csv) {
    std::cout << csv_of(flat_rows(rows));
  } else {
    std::cout << exploration_text(rows);
  }
}

}  // namespace

Action add_explore(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PROFILE", options->profile, "What gnomon profile wrote")->required();
  app.add_option("--plan", options->plans, "Presets and plan files (.json), separated by commas, or all");
  app.add_option("--set", options->sweeps,
                 "Any field of the profile, or of the plans by plan.FIELD, at these values: PATH=v1,v2 or\n"
                 "PATH=lo:hi:step or PATH=lo:hi:*factor; more than one --set gives all combinations")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--seed", options->seed, "Seed of the batches' spread, the same for all plans");
  app.add_option("--trace", options->trace, "Write all timelines to this file (open it in ui.perfetto.dev)");
  auto* json = app.add_flag("--json", options->json, "Print one JSON document");
  app.add_flag("--csv", options->csv, "Print comma-separated values")->excludes(json);
  return [options] { explore_and_print(*options); };
}

}  // namespace gnomon::apps
