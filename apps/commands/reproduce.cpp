#include "apps/commands/reproduce.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/figures_text.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/page.h"
#include "apps/text/table.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/stop.h"
#include "reproduce/figures/drawn.h"
#include "reproduce/morphgl_validation.h"
#include "reproduce/reproduce.h"
#include "sim/simulator.h"

namespace gnomon::apps {
namespace {

struct ReproduceFlags {
  std::string paper;
  std::vector<std::string> figures;
  std::string baselines;
  std::string html;
  std::string profile;
  std::string measured;
  std::string data;
  const CLI::Option* measure = nullptr;
  bool cross_validate = false;
  bool json = false;

  bool measures() const { return measure->count() > 0; }
  bool draws() const { return !figures.empty() || !html.empty() || measures(); }
};

std::string error_text(const reproduce::Row& row) {
  const auto error = row.error();
  if (!error) {
    return "-";
  }
  return row.measure == reproduce::Measure::relative ? format_change(*error) : fmt::format("{:+.1f}", *error);
}

std::string report_text(const reproduce::Report& report) {
  std::string text = fmt::format("{}: {}\n", report.paper, report.source);
  for (const auto& name : report.tables()) {
    Table table({"machine", "cell", "unit", "printed", "predicted", "error"});
    for (const auto& row : report.rows) {
      if (row.table == name) {
        table.add_row({row.machine, row.cell, row.unit, row.printed ? format_number(*row.printed) : "-",
                       format_number(row.predicted), error_text(row)});
      }
    }
    text += fmt::format("\n{}\n{}", name, table.text());
  }
  text += report.findings.empty() ? "" : "\n";
  for (const auto& finding : report.findings) {
    text += fmt::format("{}: {} {} ({}): {}\n", finding.what, format_number(finding.value), finding.unit,
                        finding.asked, finding.holds ? "holds" : "does not hold");
  }
  for (const auto& unpredicted : report.not_predicted) {
    text +=
        fmt::format("not predicted: {}, {}: {}\n", unpredicted.table, unpredicted.cells, unpredicted.reason);
  }
  return text;
}

base::Json validation_json(const std::vector<reproduce::Validation>& validations) {
  base::Json rows = base::Json::array();
  for (const auto& validation : validations) {
    rows.push_back({{"left_out", validation.left_out},
                    {"cpu_batch_beside_device_batch", validation.contention.cpu_batch_beside_device_batch},
                    {"device_batch_beside_cpu_batch", validation.contention.device_batch_beside_cpu_batch},
                    {"mean_absolute_error", validation.error},
                    {"cells", validation.cells}});
  }
  return {{"schema", "gnomon.cross_validation/1"}, {"paper", "morphgl"}, {"rows", rows}};
}

std::string validation_text(const std::vector<reproduce::Validation>& validations) {
  Table table({"left out of the fit", "CPU beside GPU batching", "GPU beside each CPU worker",
               "error of what was left out", "cells"});
  for (const auto& validation : validations) {
    table.add_row({validation.left_out, format_number(validation.contention.cpu_batch_beside_device_batch),
                   format_number(validation.contention.device_batch_beside_cpu_batch),
                   format_percent(validation.error), std::to_string(validation.cells)});
  }
  return table.text();
}

void cross_validate(const ReproduceFlags& options) {
  if (options.paper != "morphgl") {
    throw base::InputError("--cross-validate", "only morphgl has fitted numbers");
  }
  std::vector<reproduce::Validation> validations;
  {
    ProgressBar bar;
    sim::Simulator simulator;
    validations =
        reproduce::cross_validate_morphgl(simulator, base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  if (options.json) {
    print_json(validation_json(validations));
  } else {
    std::cout << validation_text(validations);
  }
}

void check(const ReproduceFlags& options) {
  const bool draws = options.draws();
  if (draws && options.paper == "all") {
    throw base::InputError("PAPER", "must be one paper where its figures are drawn");
  }
  if (draws && (options.cross_validate || !options.baselines.empty())) {
    throw base::InputError(options.cross_validate ? "--cross-validate" : "--baselines",
                           "belongs to the tables; leave the figures out");
  }
  const int sources =
      (options.measures() ? 1 : 0) + (options.profile.empty() ? 0 : 1) + (options.measured.empty() ? 0 : 1);
  if (!draws && sources > 0) {
    throw base::InputError(options.profile.empty() ? "--measured" : "--profile",
                           "is drawn in figures; name them, or all");
  }
  if (sources > 1) {
    throw base::InputError("--measure, --measured, --profile", "exclude each other; use one of them");
  }
  if (!options.html.empty()) {
    require_charts();
  }
}

reproduce::DrawnPaper draw(const ReproduceFlags& options, const DrawMeasured& draw_measured) {
  const auto figures = options.figures.empty() ? std::vector<std::string>{"all"} : options.figures;
  ProgressBar bar;
  const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
  sim::Simulator simulator;
  if (options.measures()) {
    return draw_measured(simulator, options.paper, figures, options.data, progress);
  }
  std::optional<profiles::Profile> profile;
  if (!options.profile.empty()) {
    profile = profiles::read_profile(options.profile);
  }
  std::optional<reproduce::RecordedCharts> recorded;
  if (!options.measured.empty()) {
    recorded.emplace(options.measured, options.paper);
  }
  return reproduce::draw_figures(simulator, options.paper, figures, progress,
                                 {profile ? &*profile : nullptr, {}, recorded ? &*recorded : nullptr});
}

void draw_and_print(const ReproduceFlags& options, const DrawMeasured& draw_measured) {
  const auto drawn = draw(options, draw_measured);
  std::string unwritten;
  if (!options.html.empty()) {
    unwritten =
        base::try_write_output(options.html, [&](const auto& file) { write_figures_page(file, drawn); });
  }
  if (options.json) {
    print_json(figures_json(drawn));
  } else {
    std::cout << figures_text(drawn);
  }
  if (!unwritten.empty()) {
    throw base::Failure(unwritten);
  }
}

void reproduce_and_print(const ReproduceFlags& options, const DrawMeasured& draw_measured) {
  check(options);
  if (options.cross_validate) {
    return cross_validate(options);
  }
  if (options.draws()) {
    return draw_and_print(options, draw_measured);
  }
  std::optional<reproduce::Paper> baselines;
  if (!options.baselines.empty()) {
    baselines = reproduce::read_baselines(options.baselines);
  }
  std::vector<reproduce::Report> reports;
  {
    ProgressBar bar;
    sim::Simulator simulator;
    reports = reproduce::reproduce(simulator, options.paper, baselines,
                                   base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  if (options.json) {
    print_json(reports.size() == 1 ? reproduce::to_json(reports.front()) : reproduce::to_json(reports));
    return;
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::cout << (i == 0 ? "" : "\n") << report_text(reports[i]);
    if (!baselines) {
      std::cout << "\n" << list_of_figures(reports[i].paper);
    }
  }
}

}  // namespace

Action add_reproduce(CLI::App& app) { return add_reproduce_with(app, {}); }

Action add_reproduce_with(CLI::App& app, DrawMeasured draw_measured) {
  auto options = std::make_shared<ReproduceFlags>();
  app.add_option("PAPER", options->paper, "One of " + reproduce::known_papers() + ", or all")->required();
  app.add_option("FIGURE", options->figures,
                 "Figures and tables of the paper to draw, such as F8 and T3, or all");
  add_output(app, "--html", options->html,
             "Write a page with the paper's figures to this file; it opens without network access");
  app.add_option("--profile", options->profile,
                 "Draw measured figures from this profile of your graph, written by gnomon profile");
  app.add_option(
      "--measured", options->measured,
      "Draw measured figures as they are recorded in this file, the output of --measure with --json");
  options->measure =
      app.add_option(
             "--measure", options->data,
             "Measure figures on this graph store and this machine; without DATA, on generated graphs")
          ->type_name("[DATA]")
          ->expected(0, 1);
  app.add_option(
      "--baselines", options->baselines,
      "Read the measurements of the baselines from this file and predict the paper's column. morphgl: rows "
      "of machine,\n"
      "model, dataset, system (SALIENT, DUCATI) and epoch_s, and first ratios (metric initial_x);\n"
      "neutronorch, gnnlab, ducati: rows and data sets as in profiles/papers");
  app.add_flag("--cross-validate", options->cross_validate,
               "morphgl: cross-validate the contention by leaving out each data set and each machine");
  app.add_flag("--json", options->json, "Print one JSON document");
  return
      [options, draw_measured = std::move(draw_measured)] { reproduce_and_print(*options, draw_measured); };
}

}  // namespace gnomon::apps
