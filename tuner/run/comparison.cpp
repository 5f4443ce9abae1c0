#include "tuner/run/comparison.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/stop.h"
#include "plan/exactness.h"
#include "runtime/training/trainer.h"
#include "sim/predict.h"

namespace gnomon::tuner {
namespace {

/// The plan as it runs here; throws InputError with the reason if it does not.
plan::Plan ready(const plan::Plan& preset, const profiles::Profile& profile, sim::Simulator& simulator) {
  const auto cores = profiles::cores_of(profile);
  auto plan = sim::resolve_on(profile, preset);
  if (const auto why = plan::refusal_of(plan, plan::abilities_of(cores.device)); !why.empty()) {
    throw base::InputError(why);
  }
  const auto memory = sim::predict(simulator, profile, plan).memory;
  if (const auto shortage = sim::shortage_text(memory); !shortage.empty()) {
    throw base::InputError(shortage);
  }
  return plan;
}

ComparedPreset trained(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan,
                       const ComparisonOptions& options, const base::Progress& progress) {
  runtime::TrainOptions training{.job = job, .plan = plan};
  training.device = options.device;
  training.progress = progress;
  training.stop = options.stop;
  auto report = runtime::train(graph, training);
  ComparedPreset result;
  result.preset = plan.name;
  result.cache = report.epochs.back().cache;
  result.test_accuracy = report.test_accuracy;
  result.valid_accuracy = report.valid_accuracy;
  result.weights_hash = std::move(report.weights_hash);
  return result;
}

/// Trains every trainable preset; the plans are in the order of the result's presets.
std::vector<plan::Plan> train_all(const graph::Graph& graph, const profiles::Profile& profile,
                                  const std::vector<plan::Plan>& presets, const ComparisonOptions& options,
                                  Comparison& comparison) {
  sim::Simulator simulator;
  std::vector<plan::Plan> plans;
  for (std::size_t i = 0; i < presets.size(); ++i) {
    base::check_stop(options.stop);
    const std::string where = "training, plan " + std::to_string(i + 1) + " of " +
                              std::to_string(presets.size()) + " (" + presets[i].name + ")";
    const base::Progress progress = [&](std::string_view, std::int64_t done, std::int64_t total) {
      base::report(options.progress, where, done, total);
    };
    try {
      const auto plan = ready(presets[i], profile, simulator);
      comparison.presets.push_back(trained(graph, profile.workload.job, plan, options, progress));
      plans.push_back(plan);
    } catch (const base::InputError& error) {
      comparison.left_out.push_back({presets[i].name, error.what()});
    } catch (const base::Failure& failure) {
      comparison.left_out.push_back({presets[i].name, failure.what()});
    }
  }
  return plans;
}

void measure_all(const graph::Graph& graph, const profiles::Profile& profile,
                 const std::vector<plan::Plan>& plans, const ComparisonOptions& options,
                 std::vector<ComparedPreset>& presets) {
  ValidationOptions validation;
  validation.rounds = options.rounds;
  validation.device = options.device;
  validation.peak_memory = options.peak_memory;
  validation.progress = options.progress;
  validation.stop = options.stop;
  auto measured = validate(graph, profile, plans, validation);
  for (std::size_t i = 0; i < presets.size(); ++i) {
    presets[i].epochs = std::move(measured[i]);
  }
  std::stable_sort(presets.begin(), presets.end(),
                   [](const auto& a, const auto& b) { return a.epochs.median_s < b.epochs.median_s; });
  for (auto& preset : presets) {
    preset.over_best = preset.epochs.median_s / presets.front().epochs.median_s - 1;
  }
}

base::Json or_null(const std::optional<double>& value) { return value ? base::Json(*value) : base::Json(); }

base::Json row_of(const ComparedPreset& compared) {
  const auto& epochs = compared.epochs;
  return {{"preset", compared.preset},
          {"runs", true},
          {"why_not", nullptr},
          {"exact", std::string(base::name_of(plan::exactness_of(epochs.plan)))},
          {"predicted_s", epochs.predicted_s},
          {"predicted_interval_s", or_null(epochs.predicted_interval_s)},
          {"measured_s", epochs.median_s},
          {"error", epochs.error()},
          {"over_best", compared.over_best},
          {"predicted_bytes", epochs.predicted_bytes},
          {"measured_bytes", or_null(epochs.measured_bytes)},
          {"predicted_device_bytes", or_null(epochs.predicted_device_bytes)},
          {"measured_device_bytes", or_null(epochs.measured_device_bytes)},
          {"row_hit_share", or_null(compared.cache.row_hit_share())},
          {"list_hit_share", or_null(compared.cache.list_hit_share())},
          {"row_peer_share", or_null(compared.cache.row_peer_share())},
          {"list_peer_share", or_null(compared.cache.list_peer_share())},
          {"test_accuracy", compared.test_accuracy},
          {"valid_accuracy", compared.valid_accuracy},
          {"weights_hash", compared.weights_hash}};
}

}  // namespace

Comparison compare(const graph::Graph& graph, const profiles::Profile& profile,
                   const std::vector<plan::Plan>& presets, const ComparisonOptions& options) {
  Comparison comparison;
  comparison.device = options.device.kind;
  comparison.trained_epochs = profile.workload.job.epochs;
  const auto plans = train_all(graph, profile, presets, options, comparison);
  if (!plans.empty()) {
    measure_all(graph, profile, plans, options, comparison.presets);
  }
  return comparison;
}

base::Json flat_rows(const Comparison& comparison) {
  base::Json rows = base::Json::array();
  for (const auto& compared : comparison.presets) {
    rows.push_back(row_of(compared));
  }
  for (const auto& [preset, why] : comparison.left_out) {
    base::Json row = row_of({});
    for (auto& value : row) {
      value = nullptr;
    }
    row["preset"] = preset;
    row["runs"] = false;
    row["why_not"] = why;
    rows.push_back(std::move(row));
  }
  return rows;
}

base::Json to_document(const Comparison& comparison, const std::string& data) {
  auto rows = flat_rows(comparison);
  for (std::size_t i = 0; i < comparison.presets.size(); ++i) {
    const auto& epochs = comparison.presets[i].epochs;
    rows[i]["plan"] = base::write_value(epochs.plan);
    rows[i]["epochs_s"] = epochs.measured_s;
  }
  return {{"schema", "gnomon.comparison/1"},
          {"data", data},
          {"device", std::string(base::name_of(comparison.device))},
          {"trained_epochs", comparison.trained_epochs},
          {"presets", std::move(rows)}};
}

}  // namespace gnomon::tuner
