#include "tuner/run/autotune.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/usable.h"
#include "profiles/catalog.h"
#include "profiles/measure/statistics.h"
#include "schedule/timeline.h"
#include "sim/predict.h"
#include "tuner/run/learned_profile.h"
#include "tuner/run/measure_for_choice.h"
#include "tuner/run/profile_checks.h"
#include "tuner/tune.h"

namespace gnomon::tuner {
namespace {

/// What the history keeps of a training, after the verification.
constexpr std::size_t max_stretches = 8;

/// The phases of one autotune() and the state they share.
class Autotuner {
 public:
  Autotuner(const graph::Graph& graph, const AutotuneOptions& options) : graph_(graph), options_(options) {}

  Autotuning run() {
    result_.files = options_.files;
    check_options();
    base::write_document(options_.files.job(), options_.job);  // marks the directory as a run's
    find_profile();
    tune_profile();
    train();
    conclude();
    return std::move(result_);
  }

 private:
  void find_profile() {
    const profiles::Stopwatch watch;
    result_.profile = options_.profile ? *options_.profile : measured();
    result_.costs.profile_s = watch.seconds();
    if (options_.machine) {
      result_.profile = executed_here(profiles::on_machine(result_.profile, *options_.machine));
    }
    base::write_document(options_.files.profile(), result_.profile);
    if (options_.on_profile) {
      options_.on_profile(result_.profile);
    }
  }

  profiles::Profile measured() {
    profiles::MeasureOptions options;
    options.asked_interval = options_.interval;
    options.time_limit_s = options_.time_limit_s;
    options.worth_s = [this](double epoch_s) {
      return std::max(options_.min_profile_s, options_.profile_share * epoch_s * options_.job.epochs);
    };
    options.precise = options.all = false;
    options.progress = options_.progress;
    options.stop = options_.stop;
    options.device = options_.device;
    auto [profile, regret] =
        measure_for_choice(graph_, options_.job, options, options_.tuning, options_.measure_order);
    result_.expected_regret = regret;
    return std::move(profile);
  }

  /// Limited to the cores and devices of the training.
  profiles::Profile executed_here(profiles::Profile profile) const {
    auto& machine = profile.machine;
    machine.cpu.cores = std::min(machine.cpu.cores, base::usable_cores());
    machine.device.count = 1;
    return profile;
  }

  void check_options() const {
    if (options_.profile) {
      check_profile_of(*options_.profile, graph_, options_.job);
    }
    const auto kind = options_.machine   ? options_.machine->device.kind
                      : options_.profile ? options_.profile->machine.device.kind
                                         : options_.device.kind;
    if (kind != options_.device.kind) {
      throw base::InputError(options_.machine ? "machine" : "profile",
                             "is of a machine whose device is of kind \"" + std::string(base::name_of(kind)) +
                                 "\"; the training here has one of kind \"" +
                                 std::string(base::name_of(options_.device.kind)) +
                                 "\"; to choose a plan without training, use gnomon tune");
    }
    if (options_.profile && !options_.machine) {
      check_cores_of(*options_.profile);
    }
  }

  void tune_profile() {
    const profiles::Stopwatch watch;
    auto tuning = options_.tuning;
    tuning.explain = false;  // would take longer than the search, and changes no plan
    result_.tuning = tune(result_.profile, tuning, {}, options_.progress, options_.stop);
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
    run.evaluate_every = options_.evaluate_every;
    run.on_epoch = options_.on_epoch;
    run.progress = options_.progress;
    run.stop = options_.stop;
    run.next_stretch = [this](std::int64_t left) {
      return replanner_ ? stretches_.next(left) : verification_->next_stretch(left);
    };
    run.on_stretch = [this](const runtime::StretchReport& report) {
      if (verification_->is_over() && stretches_after_.size() < max_stretches) {
        stretches_after_.push_back({report.stretch.plan, report.stretch.batches, report.timeline});
      }
      if (replanner_) {
        stretches_.on_stretch(report);
        return;
      }
      const bool was_over = verification_->is_over();
      verification_->on_stretch(report);
      if (!was_over && verification_->is_over()) {
        take_plan();
        follow();
      }
    };
    if (verification_->is_over()) {
      follow();
    }
    result_.training = run_training(graph_, run);
    if (replanner_) {
      result_.replanning = replanner_->log();
    }
  }

  /// Starts re-planning, if requested.
  void follow() {
    if (options_.replan) {
      replanner_.emplace(result_.profile, verification_->best(), options_.job.epochs);
      stretches_ = stretches_of(*replanner_, options_.files, options_.on_replanned);
    }
  }

  /// Saves the chosen plan, which a resumed run continues with.
  void take_plan() {
    result_.profile.corrections = verification_->corrections();
    base::write_document(options_.files.plan(), verification_->best());
    base::write_document(options_.files.profile(), result_.profile);
  }

  void conclude() {
    if (!verification_->is_over()) {  // the training ended first
      take_plan();
    }
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
    if (!options_.machine) {
      remember();
    }
  }

  /// Adds the turns and the first stretches after them to the history.
  void remember() {
    auto runs = verification_->runs();
    runs.insert(runs.end(), stretches_after_.begin(), stretches_after_.end());
    add_to_history(runs, result_.profile, simulator_);
  }

  const graph::Graph& graph_;
  const AutotuneOptions& options_;
  sim::Simulator simulator_;
  Autotuning result_;
  std::optional<Verification> verification_;  ///< of result_.profile
  std::optional<Replanner> replanner_;        ///< set once the plan is chosen, if re-planning was requested
  Stretches stretches_;                       ///< of replanner_
  std::vector<RealRun> stretches_after_;      ///< the first stretches after the verification
};

base::Json costs_document(const ChoiceCosts& costs, double epoch_s, double training_s) {
  return {{"profile_s", costs.profile_s},
          {"tune_s", costs.tune_s},
          {"verification_s", costs.verification_s},
          {"total_s", costs.total_s()},
          {"share_of_an_epoch", costs.total_s() / epoch_s},
          {"share_of_training", costs.total_s() / training_s}};
}

}  // namespace

double Autotuning::training_s() const {
  double seconds = 0;
  for (const auto& epoch : training.report.epochs) {
    seconds += epoch.seconds;
  }
  return seconds;
}

Autotuning autotune(const graph::Graph& graph, const AutotuneOptions& options) {
  return Autotuner(graph, options).run();
}

base::Json to_document(const Autotuning& result) {
  const double measured_s = result.measured_epoch_s();
  base::Json document = {{"schema", "gnomon.autotuning/1"},
                         {"profile", base::to_document(result.profile)},
                         {"tuning", to_document(result.tuning)},
                         {"verification", to_document(result.verification)},
                         {"fidelities", fidelities_document(result.tuning, result.verification.turns)},
                         {"training", to_document(result.training)},
                         {"replanning", base::to_document(ReplanningLog{result.replanning})},
                         {"costs", costs_document(result.costs, measured_s, result.training_s())},
                         {"predicted_epoch_s", result.predicted_epoch_s},
                         {"corrected_epoch_s", result.corrected_epoch_s},
                         {"measured_epoch_s", measured_s},
                         {"trace", result.files.trace().string()}};
  if (result.expected_regret) {
    document["expected_regret"] = *result.expected_regret;
  }
  return document;
}

}  // namespace gnomon::tuner
