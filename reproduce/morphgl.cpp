#include "reproduce/morphgl.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reproduce/morphgl_stages.h"
#include "sim/predict.h"
#include "tuner/search/dispatcher.h"

namespace gnomon::reproduce {
namespace {

/// A cell with its inferred profile and its prediction.
struct Predicted {
  MorphglCell cell;
  profiles::Profile profile;
  tuner::DispatcherResult dispatched;
};

std::optional<double> printed(const Paper& paper, const MorphglCell& cell, const char* system,
                              const char* metric) {
  Labels labels = cell.labels();
  labels["metric"] = metric;
  if (system != nullptr) {
    labels["system"] = system;
  }
  return paper.find(labels);
}

Row epoch_row(const Paper& paper, const Predicted& predicted) {
  return {predicted.cell.table,
          predicted.cell.machine,
          predicted.cell.name(),
          "s",
          printed(paper, predicted.cell, "MorphGL", "epoch_s"),
          predicted.dispatched.best.prediction.epoch_s,
          Measure::relative};
}

/// Adds Table 6's rows of a cell for which the table prints a first ratio.
void add_table6(Report& report, const Paper& paper, const Predicted& predicted) {
  const auto ratio = printed(paper, predicted.cell, nullptr, "initial_x");
  if (!ratio) {
    return;
  }
  const auto& [cell, profile, dispatched] = predicted;
  report.rows.push_back({"table6", cell.machine, cell.name() + " initial_x", "ratio", ratio,
                         dispatched.first_ratio, Measure::relative});
  report.rows.push_back({"table6", cell.machine, cell.name() + " cpu_buffer_size", "mini-batches",
                         printed(paper, cell, nullptr, "cpu_buffer_size"),
                         static_cast<double>(dispatched.best.plan.cpu_buffer), Measure::absolute});
}

/// Adds Table 5's rows for MorphGL. The GPU idles for a part of each stage; the baselines' rows give the busy
/// part: SALIENT's that of training, DUCATI's that of both stages.
void add_table5(Report& report, const Paper& paper, const Predicted& predicted) {
  const auto& cell = predicted.cell;  // no structured binding: a lambda uses it
  const auto salient_busy = printed(paper, cell, "SALIENT", "gpu_util_pct");
  const auto ducati_busy = printed(paper, cell, "DUCATI", "gpu_util_pct");
  if (!salient_busy || !ducati_busy) {
    return;
  }
  const MorphglStages stages = infer_stages(paper, cell);
  const double train_busy_s = *salient_busy / 100 * stages.cpu_batch_s;
  const double both_busy_s = *ducati_busy / 100 * (stages.device_batch_s + stages.train_s);
  const double device_batch_busy_s = std::max(0.0, both_busy_s - train_busy_s);
  const auto& prediction = predicted.dispatched.best.prediction;
  const auto batches = static_cast<double>(predicted.profile.workload.batches);
  const double device_share = 1 - static_cast<double>(prediction.cpu_batches) / batches;
  const double batch_s = prediction.epoch_s / batches;
  const double cores = predicted.profile.machine.cpu.cores;
  const auto add = [&](const char* metric, double scale, double value) {
    const auto number = printed(paper, cell, "MorphGL", metric);
    report.rows.push_back({"table5", cell.machine, cell.name() + " " + metric, "%",
                           number ? std::optional(*number / scale) : std::nullopt, value, Measure::absolute});
  };
  // Of all cores; the main process keeps its own busy.
  add("cpu_util_pct", cores, 100 * (prediction.cpu_utilisation * (cores - 1) + 1) / cores);
  add("pcie_util_pct", 1, 100 * prediction.link_utilisation);
  add("gpu_util_pct", 1, 100 * std::min(1.0, (train_busy_s + device_share * device_batch_busy_s) / batch_s));
}

std::vector<Predicted> predict_all(sim::Simulator& simulator, const Paper& paper,
                                   const std::vector<MorphglCell>& cells, const base::Progress& progress) {
  std::vector<Predicted> all;
  for (const auto& cell : cells) {
    base::report(progress, "simulating", std::ssize(all), std::ssize(cells));
    auto profile = morphgl_profile(paper, cell, fitted_contention);
    auto dispatched = predict_morphgl(simulator, profile);
    all.push_back({cell, std::move(profile), std::move(dispatched)});
  }
  return all;
}

/// Counts the rows of a table with that ending of their cell whose error is at most `max_error`, and all that
/// have a printed number.
std::pair<int, int> count_within(const Report& report, std::string_view table, std::string_view ending,
                                 double max_error) {
  int within = 0;
  int all = 0;
  for (const Row& row : report.rows) {
    if (row.table == table && row.cell.ends_with(ending) && row.error()) {
      within += std::abs(*row.error()) <= max_error ? 1 : 0;
      ++all;
    }
  }
  return {within, all};
}

void add_findings(Report& report) {
  if (const auto error = report.mean_absolute_error("table4")) {
    report.findings.push_back(
        {"table4: mean absolute error, in-sample: two numbers are fitted on these cells, and "
         "--cross-validate prints the error of cells left out of the fit",
         "at most 6", *error * 100, "%", *error <= 0.06});
  }
  const auto [ratios, all_ratios] = count_within(report, "table6", " initial_x", 0.1);
  if (all_ratios > 0) {
    report.findings.push_back(
        {"table6: first ratios within 10 % (they are inputs; the dispatcher returns them)",
         "all " + std::to_string(all_ratios), static_cast<double>(ratios), "rows", ratios == all_ratios});
  }
  const auto [buffers, all_buffers] = count_within(report, "table6", " cpu_buffer_size", 2);
  if (all_buffers > 0) {
    const int enough = (2 * all_buffers + 2) / 3;
    report.findings.push_back(
        {"table6: CPU buffers within 2 mini-batches",
         "two thirds: at least " + std::to_string(enough) + " of " + std::to_string(all_buffers),
         static_cast<double>(buffers), "rows", buffers >= enough});
  }
  if (const auto error = report.mean_absolute_error("table5")) {
    report.findings.push_back({"table5: mean absolute error", "at most 8", *error, "points", *error <= 8});
  }
}

void add_unpredicted(Report& report) {
  const auto add = [&](const char* table, const char* cells, const char* reason) {
    report.not_predicted.push_back({table, cells, reason});
  };
  add("table4", "SALIENT, DUCATI", "inputs: the baselines' columns");
  add("table5", "SALIENT, DUCATI", "inputs: the busy shares of link and GPU");
  add("table6", "GPU buffer size", "given (gbs = 10), not found by the dispatcher");
  add("table7", "SALIENT, DUCATI, GPU batching", "inputs; --baselines predicts MorphGL's epochs there");
  add("table8", "preprocessing", "time of the authors' profiler and dispatcher, not of a schedule");
}

}  // namespace

tuner::DispatcherResult predict_morphgl(sim::Simulator& simulator, const profiles::Profile& profile) {
  plan::Plan plan = plan::find_plan("morphgl");
  plan.workers = profile.machine.cpu.cores - 1;
  return tuner::dispatch(profile, plan, [&](const plan::Plan& candidate) {
    return sim::predict(simulator, profile, candidate);
  });
}

Report reproduce_morphgl(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                         const base::Progress& progress) {
  const Paper own = find_paper("morphgl");
  const Paper paper = baselines ? with(*baselines, own) : own;
  const auto cells = morphgl_cells(baselines ? *baselines : own);
  if (cells.empty()) {
    throw base::InputError(
        "baselines",
        "no cell has epochs of both SALIENT and DUCATI; give rows {\"machine\", \"model\", "
        "\"dataset\", \"system\", \"epoch_s\"} of both systems");
  }
  Report report{own.name, own.source, baselines ? cells.front().table : "table4", {}, {}, {}};
  const auto all = predict_all(simulator, paper, cells, progress);
  for (const auto& predicted : all) {
    report.rows.push_back(epoch_row(paper, predicted));
  }
  for (const auto& predicted : all) {
    add_table6(report, paper, predicted);
  }
  for (const auto& predicted : all) {
    add_table5(report, paper, predicted);
  }
  add_findings(report);
  add_unpredicted(report);
  return report;
}

}  // namespace gnomon::reproduce
