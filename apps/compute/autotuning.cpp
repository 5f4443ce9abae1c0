#include "apps/compute/autotuning.h"

#include <fmt/format.h>

#include <iostream>

#include "apps/compute/profile_text.h"
#include "apps/compute/training_run.h"
#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/tuning.h"
#include "profiles/measure/workload.h"
#include "sim/prediction.h"

namespace gnomon::apps {
namespace {

void print_outcome(const RunFiles& files, const TrainingResult& result, double predicted_s) {
  const double measured_s = result.median_epoch_s();
  std::cout << "\n"
            << accuracy_text(result.report)
            << fmt::format("epoch: predicted {}, measured {} (median), error {:+.1f} %\n",
                           format_seconds(predicted_s), format_seconds(measured_s),
                           100 * (predicted_s / measured_s - 1))
            << fmt::format("trace: {} (predicted beside measured; open in ui.perfetto.dev)\n",
                           files.trace().string())
            << fmt::format("documents: {}: profile.json, tuning.json, plan.json, job.json, report.json\n",
                           files.directory.string());
}

}  // namespace

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  app.add_option("--interval", flags.interval,
                 "Measure until the 95 % confidence intervals are within this share of the mean")
      ->check(CLI::Range(1e-6, 1.0));
  app.add_option("--time-limit", flags.time_limit_s, "Seconds the measurements may take")
      ->check(CLI::Range(0.1, 1e6));
}

profiles::Profile measure_with_bar(const graph::Graph& graph, const plan::Job& job,
                                   const MeasureFlags& flags) {
  ProgressBar bar;
  profiles::MeasureOptions options;
  options.asked_interval = flags.interval;
  options.time_limit_s = flags.time_limit_s;
  options.progress = bar.progress();
  options.stop = &stop_on_interrupt();
  return profiles::measure(graph, job, options);
}

void autotune(const graph::Graph& graph, const Autotuning& request) {
  const auto& files = request.files;
  const auto say = [&](const std::string& text) {
    if (!request.json) {
      std::cout << text << std::flush;
    }
  };
  const auto profile = measure_with_bar(graph, request.job, request.measure);
  base::write_document(files.profile(), profile);
  say("Measured (stopped by the " +
      std::string(profile.stopped_by == "interval" ? "interval" : "time limit") + ")\n" + text_of(profile) +
      "\n");

  sim::Simulator simulator;
  const auto tuned = tune_with_bar(profile, simulator, {});
  base::write_file_atomically(files.tuning(), tuning_document(tuned).dump(2) + "\n");
  say("Predicted\n" + tuning_text(tuned) + fmt::format("\nTraining with plan {}\n", tuned.best().plan.name));

  const TrainingRun run{request.data, files, request.job, tuned.best().plan, false, {}, request.json};
  const auto result = train_with_table(graph, run);
  const auto predicted = sim::predict(simulator, profile, tuned.best().plan, true);
  schedule::write_trace(
      files.trace(), {{"predicted", predicted.timeline}, {"measured", result.report.epochs.back().timeline}});
  if (request.json) {
    print_json({{"schema", "gnomon.autotuning/1"},
                {"profile", base::to_document(profile)},
                {"tuning", tuning_document(tuned)},
                {"training", to_document(run, result)},
                {"predicted_epoch_s", predicted.epoch_s},
                {"measured_epoch_s", result.median_epoch_s()},
                {"trace", files.trace().string()}});
  } else {
    print_outcome(files, result, predicted.epoch_s);
  }
}

}  // namespace gnomon::apps
