#include "apps/compute/autotuning_text.h"

#include <fmt/format.h>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "apps/text/training_text.h"

namespace gnomon::apps {
namespace {

std::string costs_text(const tuner::Autotuning& result) {
  const auto& costs = result.costs;
  return fmt::format(
      "choosing the plan: profile {} + tuning {} + verification {} = {}, {} of the training's {}\n",
      format_seconds(costs.profile_s), format_seconds(costs.tune_s), format_seconds(costs.verification_s),
      format_seconds(costs.total_s()), format_percent(costs.total_s() / result.training_s()),
      format_seconds(result.training_s()));
}

std::string prediction_text(const tuner::Autotuning& result) {
  const double measured_s = result.measured_epoch_s();
  const auto error = [&](double predicted_s) { return 100 * (predicted_s / measured_s - 1); };
  std::string corrected;
  if (result.corrected_epoch_s != result.predicted_epoch_s) {
    corrected = fmt::format("; corrected by the real runs: {}, error {:+.1f} %",
                            format_seconds(result.corrected_epoch_s), error(result.corrected_epoch_s));
  }
  return fmt::format("epoch: predicted {}, measured {} (median), error {:+.1f} %{}\n",
                     format_seconds(result.predicted_epoch_s), format_seconds(measured_s),
                     error(result.predicted_epoch_s), corrected);
}

}  // namespace

std::string verification_text(const tuner::VerificationResult& result) {
  if (result.turns == 0) {
    return "no plan was verified: the training is too short, or the predictions are too far apart, for it to "
           "pay off\n";
  }
  Table table({"plan", "schedule", "workers", "threads", "predicted", "measured", "+-", "real runs"});
  for (const auto& verified : result.plans) {
    const auto& plan = verified.plan;
    table.add_row({plan.name, std::string(base::name_of(plan.schedule)), std::to_string(plan.workers),
                   std::to_string(plan.device_threads), format_seconds(verified.predicted_s),
                   verified.measured_s ? format_seconds(*verified.measured_s) : "-",
                   verified.relative_error ? format_percent(*verified.relative_error) : "-",
                   std::to_string(verified.turns)});
  }
  const auto decided =
      result.is_decided
          ? fmt::format("decided: with {} confidence the chosen plan is within {} of the fastest of these\n",
                        format_percent(1 - result.error), format_percent(result.tolerance))
          : std::string("undecided: the race ended before the test could tell these plans apart\n");
  return table.text() + decided +
         fmt::format("{} real runs of {} mini-batches in all, which are the first of the training\n",
                     result.turns, result.batches);
}

std::string autotuning_text(const tuner::Autotuning& result) {
  const auto& report = result.training.report;
  return accuracy_text(report) + cache_text(report) + prediction_text(result) + costs_text(result) +
         fmt::format("trace: {} (predicted beside measured; open in ui.perfetto.dev)\n",
                     result.files.trace().string()) +
         fmt::format("documents: {}: profile.json, tuning.json, plan.json, job.json, report.json\n",
                     result.files.directory.string());
}

}  // namespace gnomon::apps
