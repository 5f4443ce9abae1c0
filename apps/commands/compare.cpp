#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/commands/peak_memory.h"
#include "apps/compute/comparison_text.h"
#include "apps/compute/measure_flags.h"
#include "apps/compute/open_data.h"
#include "apps/flags/job_flags.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/page.h"
#include "base/output_file.h"
#include "profiles/measure/workload.h"
#include "tuner/run/comparison.h"

namespace gnomon::apps {
namespace {

plan::Job default_job() {
  plan::Job job;
  job.epochs = 3;
  return job;
}

struct CompareFlags {
  explicit CompareFlags(CLI::App& app) : job(app, default_job()) {}
  std::string data;
  std::vector<std::string> plans;
  int rounds = 0;
  MeasureFlags measure;
  std::string html;
  std::string peak_memory_of;
  bool json = false;
  JobFlags job;
};

std::vector<plan::Plan> plans_of(const CompareFlags& options) {
  if (options.plans.empty()) {
    return plan::presets();
  }
  std::vector<plan::Plan> plans;
  for (const auto& name : options.plans) {
    plans.push_back(plan::find_plan(name));
  }
  return plans;
}

tuner::Comparison compare_with_bar(const CompareFlags& given, const graph::Graph& graph, const plan::Job& job,
                                   const std::vector<plan::Plan>& plans,
                                   const runtime::DeviceOptions& device) {
  ProgressBar bar;
  profiles::MeasureOptions measure;
  measure.asked_interval = given.measure.interval;
  measure.time_limit_s = given.measure.time_limit_s;
  measure.progress = bar.progress();
  measure.stop = &stop_on_interrupt();
  measure.device = device;
  const auto profile = profiles::measure(graph, job, measure);
  tuner::ComparisonOptions options;
  if (given.rounds > 0) {
    options.rounds = tuner::Rounds::exactly(given.rounds);
  }
  options.device = device;
  options.peak_memory = [&](const plan::Plan& plan) {
    return peak_memory({"compare", given.data}, given.measure.device, job, plan);
  };
  options.progress = bar.progress();
  options.stop = &stop_on_interrupt();
  return tuner::compare(graph, profile, plans, options);
}

void compare(const CompareFlags& options) {
  if (!options.html.empty()) {
    require_charts();
  }
  const auto plans = plans_of(options);
  const auto device = device_of(options.measure.device);
  auto job = options.job.job();
  const auto graph = open_training_data(options.data, job);
  options.job.fit_to(graph, job);
  if (!options.peak_memory_of.empty()) {
    print_peak_memory(options.peak_memory_of, graph, device);
    return;
  }
  const auto comparison = compare_with_bar(options, graph, job, plans, device);
  if (options.json) {
    print_json(to_document(comparison, options.data));
  } else {
    std::cout << comparison_text(comparison);
  }
  if (!options.html.empty()) {
    base::write_output(options.html, [&](const auto& file) { write_comparison(file, comparison); });
  }
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareFlags>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("--plans", options->plans,
                 "Presets or plan files, separated by commas (default: all presets)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--rounds", options->rounds,
                 "Measured epochs of each plan, of which the median is reported\n(default: at least 3, and "
                 "as many as take 2 seconds)")
      ->check(in_range(1, 1000));
  add_measure_flags(app, options->measure);
  add_output(app, "--html", options->html,
             "Write a page with charts to this file; it opens without network access");
  add_peak_memory_option(app, options->peak_memory_of);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { compare(*options); };
}

}  // namespace gnomon::apps
