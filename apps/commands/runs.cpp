#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"
#include "tuner/runs/run_summary.h"

namespace gnomon::apps {
namespace {

struct RunsFlags {
  std::vector<std::string> directories = {"runs"};
  bool json = false;
};

/// The names of all metrics that a run has, in the order of their first use.
std::vector<std::string> metric_names(const std::vector<tuner::RunSummary>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    for (const auto* metrics : {&run.valid, &run.test}) {
      for (const auto& [name, value] : *metrics) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      }
    }
  }
  return names;
}

std::string percent_of(const tuner::NamedMetrics& metrics, const std::string& name) {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() || !found->second ? "-" : format_percent(*found->second);
}

/// "3 of 10" while there is more to train.
std::string epochs_of(const tuner::RunSummary& run) {
  return run.has_ended ? std::to_string(run.epochs) : fmt::format("{} of {}", run.epochs, run.job.epochs);
}

/// "valid" is the metric by which the run's epochs were judged.
std::string table_of(const std::vector<tuner::RunSummary>& runs) {
  const auto metrics = metric_names(runs);
  std::vector<std::string> headings = {"run", "plan", "model", "epochs", "epoch time"};
  headings.push_back("valid");
  for (const auto& name : metrics) {
    headings.push_back("test " + name);
  }
  Table table(headings);
  std::string problems;
  for (const auto& run : runs) {
    if (!run.problem.empty()) {
      problems += "cannot be read: " + run.problem + "\n";
      continue;
    }
    std::vector<std::string> row = {run.directory.string(), run.plan,
                                    std::string(base::name_of(run.job.model)), epochs_of(run),
                                    run.epoch_s ? format_seconds(*run.epoch_s) : "-"};
    row.push_back(run.valid.empty() ? "-" : percent_of(run.valid, run.valid.front().first));
    for (const auto& name : metrics) {
      row.push_back(percent_of(run.test, name));
    }
    table.add_row(row);
  }
  return table.text() + problems;
}

void compare(const RunsFlags& options) {
  const auto runs = tuner::summarise_runs({options.directories.begin(), options.directories.end()});
  if (options.json) {
    print_json(tuner::to_document(runs));
  } else {
    std::cout << table_of(runs);
  }
}

}  // namespace

Action add_runs(CLI::App& app) {
  auto options = std::make_shared<RunsFlags>();
  app.add_option("DIR", options->directories, "Runs, or directories of runs");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { compare(*options); };
}

}  // namespace gnomon::apps
