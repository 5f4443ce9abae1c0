#include "apps/compute/autotuning.h"

#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "apps/compute/profile_text.h"
#include "apps/compute/training_run.h"
#include "apps/compute/verification.h"
#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/tuning.h"
#include "profiles/measure/statistics.h"
#include "profiles/measure/workload.h"
#include "sim/prediction.h"

namespace gnomon::apps {
namespace {

/// What the choice of the plan took, beside the training itself.
struct Costs {
  double profile_s = 0;
  double tune_s = 0;
  double verification_s = 0;  ///< what the best plan would not have taken

  double total_s() const { return profile_s + tune_s + verification_s; }
};

/// Predictions of the plan that was chosen.
struct Predicted {
  double epoch_s = 0;
  double corrected_s = 0;  ///< with the real runs' corrections
};

struct Outcome {
  TrainingResult training;
  Predicted predicted;
  Costs costs;
};

std::string costs_text(const Costs& costs, double epoch_s) {
  return fmt::format("choosing the plan: profile {} + tuning {} + verification {} = {} of an epoch\n",
                     format_seconds(costs.profile_s), format_seconds(costs.tune_s),
                     format_seconds(costs.verification_s), format_percent(costs.total_s() / epoch_s));
}

base::Json costs_document(const Costs& costs, double epoch_s) {
  return {{"profile_s", costs.profile_s},
          {"tune_s", costs.tune_s},
          {"verification_s", costs.verification_s},
          {"share_of_an_epoch", costs.total_s() / epoch_s}};
}

void print_outcome(const RunFiles& files, const Outcome& outcome) {
  const double measured_s = outcome.training.median_epoch_s();
  const auto& predicted = outcome.predicted;
  const auto error = [&](double predicted_s) { return 100 * (predicted_s / measured_s - 1); };
  std::string corrected;
  if (predicted.corrected_s != predicted.epoch_s) {
    corrected = fmt::format("; corrected by the real runs: {}, error {:+.1f} %",
                            format_seconds(predicted.corrected_s), error(predicted.corrected_s));
  }
  std::cout << "\n"
            << accuracy_text(outcome.training.report) << cache_text(outcome.training.report)
            << fmt::format("epoch: predicted {}, measured {} (median), error {:+.1f} %{}\n",
                           format_seconds(predicted.epoch_s), format_seconds(measured_s),
                           error(predicted.epoch_s), corrected)
            << costs_text(outcome.costs, measured_s)
            << fmt::format("trace: {} (predicted beside measured; open in ui.perfetto.dev)\n",
                           files.trace().string())
            << fmt::format("documents: {}: profile.json, tuning.json, plan.json, job.json, report.json\n",
                           files.directory.string());
}

/// profile → tune → verify and train, with what they leave to each other.
class Autotuner {
 public:
  Autotuner(const graph::Graph& graph, const Autotuning& request) : graph_(graph), request_(request) {}

  void run() {
    measure();
    tune();
    train();
    conclude();
  }

 private:
  void say(const std::string& text) const {
    if (!request_.json) {
      std::cout << text << std::flush;
    }
  }

  void measure() {
    const profiles::Stopwatch watch;
    profile_ = measure_with_bar(graph_, request_.job, request_.measure);
    outcome_.costs.profile_s = watch.seconds();
    base::write_document(request_.files.profile(), profile_);
    say("Measured (stopped by the " +
        std::string(profile_.stopped_by == "interval" ? "interval" : "time limit") + ")\n" +
        text_of(profile_) + "\n");
  }

  void tune() {
    const profiles::Stopwatch watch;
    tuning_ = tune_with_bar(profile_, simulator_, {});
    verification_.emplace(profile_, tuning_, request_.job, simulator_);
    outcome_.costs.tune_s = watch.seconds();
    base::write_file_atomically(request_.files.tuning(), tuning_document(tuning_).dump(2) + "\n");
    say("Predicted\n" + tuning_text(tuning_));
    if (!plan::trains_in_order(tuning_.best().plan)) {
      say(tuning_.best().plan.name +
          " trains batches as they become ready, so its weights depend on timing: " +
          verification_->best().name + " is taken\n");
    }
  }

  void train() {
    say(fmt::format("\nTraining with plan {}{}\n", verification_->best().name,
                    verification_->is_over() ? "" : ", and others by turns until the fastest is found"));
    TrainingRun run{request_.data, request_.files, request_.job, verification_->best(), false, {},
                    request_.json};
    run.device = device_of(request_.measure.device);
    run.next_stretch = [this](std::int64_t left) { return verification_->next_stretch(left); };
    run.on_stretch = [this](const runtime::StretchReport& report) {
      const bool was_over = verification_->is_over();
      verification_->on_stretch(report);
      if (!was_over && verification_->is_over()) {
        take_plan();
      }
    };
    outcome_.training = train_with_table(graph_, run);
    training_document_ = to_document(run, outcome_.training);
  }

  /// A run that is resumed from here on goes on with it.
  void take_plan() {
    profile_.corrections = verification_->corrections();
    base::write_document(request_.files.plan(), verification_->best());
    base::write_document(request_.files.profile(), profile_);
  }

  void conclude() {
    const auto& files = request_.files;
    outcome_.costs.verification_s = verification_->race().extra_s();
    const auto& plan = outcome_.training.plan;
    auto predicted = sim::predict(simulator_, profile_, plan, true);
    outcome_.predicted.corrected_s = predicted.epoch_s;
    auto as_profiled = profile_;
    as_profiled.corrections.reset();
    outcome_.predicted.epoch_s = sim::predict(simulator_, as_profiled, plan).epoch_s;
    schedule::write_trace(files.trace(), {{"predicted", predicted.timeline},
                                          {"measured", outcome_.training.report.epochs.back().timeline}});
    if (request_.json) {
      print_json(document());
      return;
    }
    say("\nVerified\n" + verification_->text() + corrections_text(profile_.corrections) +
        fidelities_text(tuning_, verification_->race().pieces()) + "\n");
    print_outcome(files, outcome_);
  }

  base::Json document() const {
    const double measured_s = outcome_.training.median_epoch_s();
    return {{"schema", "gnomon.autotuning/1"},
            {"profile", base::to_document(profile_)},
            {"tuning", tuning_document(tuning_)},
            {"verification", verification_->document()},
            {"fidelities", fidelities_document(tuning_, verification_->race().pieces())},
            {"training", training_document_},
            {"costs", costs_document(outcome_.costs, measured_s)},
            {"predicted_epoch_s", outcome_.predicted.epoch_s},
            {"corrected_epoch_s", outcome_.predicted.corrected_s},
            {"measured_epoch_s", measured_s},
            {"trace", request_.files.trace().string()}};
  }

  const graph::Graph& graph_;
  const Autotuning& request_;
  sim::Simulator simulator_;
  profiles::Profile profile_;
  Tuning tuning_;
  std::optional<Verification> verification_;
  base::Json training_document_;
  Outcome outcome_;
};

}  // namespace

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  app.add_option("--interval", flags.interval,
                 "Measure until the 95 % confidence intervals are within this share of the mean")
      ->check(CLI::Range(1e-6, 1.0));
  app.add_option("--time-limit", flags.time_limit_s, "Seconds the measurements may take")
      ->check(CLI::Range(0.1, 1e6));
  add_device_flags(app, flags.device);
}

profiles::Profile measure_with_bar(const graph::Graph& graph, const plan::Job& job,
                                   const MeasureFlags& flags) {
  ProgressBar bar;
  profiles::MeasureOptions options;
  options.asked_interval = flags.interval;
  options.time_limit_s = flags.time_limit_s;
  options.progress = bar.progress();
  options.stop = &stop_on_interrupt();
  options.device = device_of(flags.device);
  return profiles::measure(graph, job, options);
}

void autotune(const graph::Graph& graph, const Autotuning& request) { Autotuner(graph, request).run(); }

}  // namespace gnomon::apps
