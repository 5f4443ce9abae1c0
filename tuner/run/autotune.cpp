#include "tuner/run/autotune.h"

#include <optional>
#include <utility>

#include "profiles/measure/statistics.h"
#include "profiles/measure/workload.h"
#include "schedule/timeline.h"
#include "sim/predict.h"
#include "tuner/tune.h"

namespace gnomon::tuner {
namespace {

/// The phases of one autotune(), with what they leave to each other.
class Autotuner {
 public:
  Autotuner(const graph::Graph& graph, const AutotuneOptions& options) : graph_(graph), options_(options) {}

  Autotuning run() {
    result_.files = options_.files;
    base::write_document(options_.files.job(), options_.job);  // marks the directory as a run's
    measure();
    tune_profile();
    train();
    conclude();
    return std::move(result_);
  }

 private:
  void measure() {
    const profiles::Stopwatch watch;
    profiles::MeasureOptions options;
    options.asked_interval = options_.interval;
    options.time_limit_s = options_.time_limit_s;
    options.progress = options_.progress;
    options.stop = options_.stop;
    options.device = options_.device;
    result_.profile = profiles::measure(graph_, options_.job, options);
    result_.costs.profile_s = watch.seconds();
    base::write_document(options_.files.profile(), result_.profile);
    if (options_.on_profile) {
      options_.on_profile(result_.profile);
    }
  }

  void tune_profile() {
    const profiles::Stopwatch watch;
    result_.tuning = tune(result_.profile, options_.tuning, {}, options_.progress, options_.stop);
    verification_.emplace(result_.profile, result_.tuning, options_.job, simulator_);
    result_.costs.tune_s = watch.seconds();
    base::write_file_atomically(options_.files.tuning(), to_document(result_.tuning).dump(2) + "\n");
    if (options_.on_tuning) {
      options_.on_tuning(result_.tuning, *verification_);
    }
  }

  void train() {
    TrainingRun run;
    run.data = options_.data;
    run.files = options_.files;
    run.job = options_.job;
    run.plan = verification_->best();
    run.device = options_.device;
    run.on_epoch = options_.on_epoch;
    run.progress = options_.progress;
    run.stop = options_.stop;
    run.next_stretch = [this](std::int64_t left) { return verification_->next_stretch(left); };
    run.on_stretch = [this](const runtime::StretchReport& report) {
      const bool was_over = verification_->is_over();
      verification_->on_stretch(report);
      if (!was_over && verification_->is_over()) {
        take_plan();
      }
    };
    result_.training = run_training(graph_, run);
  }

  /// A run that is resumed from here on goes on with the chosen plan.
  void take_plan() {
    result_.profile.corrections = verification_->corrections();
    base::write_document(options_.files.plan(), verification_->best());
    base::write_document(options_.files.profile(), result_.profile);
  }

  void conclude() {
    result_.verification = verification_->result();
    result_.costs.verification_s = result_.verification.extra_s;
    const auto& plan = result_.training.plan;
    const auto predicted = sim::predict(simulator_, result_.profile, plan, true);
    result_.corrected_epoch_s = predicted.epoch_s;
    auto as_measured = result_.profile;
    as_measured.corrections.reset();
    result_.predicted_epoch_s = sim::predict(simulator_, as_measured, plan).epoch_s;
    schedule::write_trace(
        options_.files.trace(),
        {{"predicted", predicted.timeline}, {"measured", result_.training.report.epochs.back().timeline}});
  }

  const graph::Graph& graph_;
  const AutotuneOptions& options_;
  sim::Simulator simulator_;
  Autotuning result_;
  std::optional<Verification> verification_;  ///< of result_.profile
};

base::Json costs_document(const ChoiceCosts& costs, double epoch_s) {
  return {{"profile_s", costs.profile_s},
          {"tune_s", costs.tune_s},
          {"verification_s", costs.verification_s},
          {"share_of_an_epoch", costs.total_s() / epoch_s}};
}

}  // namespace

Autotuning autotune(const graph::Graph& graph, const AutotuneOptions& options) {
  return Autotuner(graph, options).run();
}

base::Json to_document(const Autotuning& result) {
  const double measured_s = result.measured_epoch_s();
  return {{"schema", "gnomon.autotuning/1"},
          {"profile", base::to_document(result.profile)},
          {"tuning", to_document(result.tuning)},
          {"verification", to_document(result.verification)},
          {"fidelities", fidelities_document(result.tuning, result.verification.turns)},
          {"training", to_document(result.training)},
          {"costs", costs_document(result.costs, measured_s)},
          {"predicted_epoch_s", result.predicted_epoch_s},
          {"corrected_epoch_s", result.corrected_epoch_s},
          {"measured_epoch_s", measured_s},
          {"trace", result.files.trace().string()}};
}

}  // namespace gnomon::tuner
