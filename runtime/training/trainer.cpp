#include "runtime/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/safetensors.h"
#include "plan/disk_plans.h"
#include "runtime/device.h"
#include "runtime/stages.h"
#include "runtime/training/best_epoch.h"
#include "runtime/training/biased_graph.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/epoch_evaluation.h"
#include "runtime/training/history.h"
#include "runtime/training/history_step.h"
#include "runtime/training/replicas.h"
#include "runtime/training/run_directory.h"
#include "runtime/training/run_log.h"
#include "runtime/training/save_clock.h"
#include "runtime/training/stretch_runner.h"
#include "runtime/training/train_checks.h"
#include "schedule/run_epoch.h"

namespace gnomon::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One call of train().
class Training {
 public:
  Training(const graph::Graph& graph, const TrainOptions& options);
  TrainReport run();

 private:
  void resume();
  bool is_finished() const;
  std::vector<std::int64_t> rest_of_epoch() const;
  EpochReport train_epoch();
  Stretch next_stretch(std::int64_t left) const;
  void learn(const nn::TensorBatch& data, std::int64_t batch, int device);
  void begin_history();
  std::int64_t average();
  void read_sums();
  void save_if_due();
  void end_epoch(const EpochReport& report);
  TrainReport conclude(std::vector<EpochReport> epochs);

  const nn::Model& model() const { return replicas_.first().model(); }
  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  [[noreturn]] void stop();
  void save();

  const graph::Graph& graph_;
  const TrainOptions& options_;
  plan::Plan plan_;  ///< that trains now
  Replicas replicas_;
  RunState state_;
  nn::StepSums sums_;               ///< of the epoch so far
  std::optional<History> history_;  ///< of plans that reuse the embeddings of all vertices or of halos
  Stages stages_;
  std::unique_ptr<HotEmbeddings> hot_;  ///< of plans that reuse them; else null
  std::string activity_;                ///< what progress is told
  bool is_concluding_ = false;          ///< all epochs are trained and saved
  std::int64_t epoch_batches_ = 0;      ///< of this epoch, as far as known at its begin
  double seconds_before_ = 0;           ///< of this epoch, in the run that is resumed
  Clock::time_point epoch_begin_;
  SaveClock save_clock_;
  std::optional<RunLog> log_;  ///< of runs with a directory
  EpochEvaluation evaluation_;
  StretchRunner runner_;  ///< declared after what its threads use
};

Training::Training(const graph::Graph& graph, const TrainOptions& options)
    : graph_(graph),
      options_(options),
      plan_(options.replay.empty() ? options.plan : in_given_order(options.plan)),
      replicas_(options.job, graph, tensor_device(options.device),
                schedule::averages_gradients(plan_) ? plan_.devices : 1),
      stages_(
          graph_of_stages(graph, plan_), job_of_stages(options.job, plan_), plan_,
          [this](const nn::TensorBatch& data, std::int64_t batch, int device) { learn(data, batch, device); },
          options.device, options.progress, [this] { return average(); }),
      save_clock_(options.checkpoint_every_s),
      evaluation_(graph, options,
                  [this] {
                    if (is_stopped()) {
                      stop();
                    }
                  }),
      runner_(stages_, options.before_stage) {
  check_replayed(options);
  check_replay(options.replay, options.plan, [this](std::int64_t epoch) { return stages_.batches(epoch); });
  check_hot_counts(options, stages_.batches());
  replicas_.first().use_graphs(plan_.graphs);
  if (plan_.embeddings.reuse == plan::Reuse::hot) {
    hot_ = std::make_unique<HotEmbeddings>(stages_.placed(), options.job, plan_, model(), options.hot_ratio,
                                           options.progress);
  }
  state_.job = options.job;
  state_.graph = mark_of(graph);
}

void Training::resume() {
  const auto path = checkpoint_path(options_.run_directory);
  if (options_.resume && std::filesystem::exists(path)) {
    read_checkpoint(path, state_, replicas_.first());
    replicas_.spread();
    sums_ = nn::StepSums({state_.loss_sum, state_.correct, state_.seeds});
    if (hot_) {
      hot_->restore(state_.carried);
    }
  }
}

/// Embeddings begin as the initial weights make them.
void Training::begin_history() {
  check_carried_history(state_, plan_, checkpoint_path(options_.run_directory));
  if (!keeps_history(plan_)) {
    return;
  }
  if (History::is_in(state_.carried)) {
    history_.emplace(state_.carried);
    return;
  }
  std::vector<at::Tensor> hidden;
  if (model().num_layers() > 1) {
    evaluation_.infer(model(), {}, &hidden);
  }
  history_.emplace(std::move(hidden), graph_.num_vertices());
}

bool Training::is_finished() const {
  return state_.epoch >= options_.job.epochs ||
         (options_.job.patience > 0 && state_.epochs_since_best >= options_.job.patience);
}

TrainReport Training::run() {
  resume();
  stages_.hold_model(replicas_.kept_bytes(state_.epoch > 0 || !state_.trained.empty()));
  if (plan::reads_disk(plan_) && evaluation_.is_due(options_.job.epochs - 1)) {
    stages_.hold_evaluation(nn::inference_bytes(graph_, model(), {.vertices = graph_.valid}));
  }
  begin_history();
  if (!options_.run_directory.empty()) {
    log_.emplace(options_.run_directory, state_.epoch);
  }
  std::vector<EpochReport> epochs;
  while (!is_finished()) {
    auto report = train_epoch();
    if (save_clock_.is_worth_it()) {
      save();  // an evaluation that fails (out of memory, say) must not lose the epoch
    }
    evaluation_.evaluate(model(), report);
    if (log_) {
      log_->append(report);
    }
    end_epoch(report);
    if (options_.on_epoch) {
      options_.on_epoch(report);
    }
    if (!epochs.empty()) {
      epochs.back().timeline = {};  // they would accumulate in long runs
    }
    epochs.push_back(std::move(report));
  }
  return conclude(std::move(epochs));
}

std::vector<std::int64_t> Training::rest_of_epoch() const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(stages_.batches(state_.epoch)));
  std::iota(order.begin(), order.end(), 0);
  if (!options_.replay.empty()) {
    order = options_.replay[static_cast<std::size_t>(state_.epoch)];
  }
  const std::unordered_set<std::int64_t> trained(state_.trained.begin(), state_.trained.end());
  std::erase_if(order, [&](std::int64_t batch) { return trained.contains(batch); });
  return order;
}

EpochReport Training::train_epoch() {
  EpochReport report;
  report.epoch = state_.epoch;
  activity_ = "epoch " + std::to_string(state_.epoch + 1) + " of " + std::to_string(options_.job.epochs);
  const auto rest = rest_of_epoch();
  epoch_batches_ = std::ssize(rest) + std::ssize(state_.trained);
  if (hot_) {
    auto order = state_.trained;
    order.insert(order.end(), rest.begin(), rest.end());
    hot_->begin_epoch(state_.epoch, std::move(order), std::ssize(state_.trained),
                      state_.epoch * stages_.batches());
  }
  seconds_before_ = state_.seconds;
  epoch_begin_ = Clock::now();
  for (auto next = rest.begin(); next != rest.end();) {
    const auto stretch = next_stretch(rest.end() - next);
    const auto end = next + stretch.batches;
    plan_ = stretch.plan;
    auto trained = runner_.run(stretch, state_.epoch, {next, end}, hot_.get(), std::ssize(state_.trained));
    next = end;
    append(report, trained);
    if (options_.on_stretch) {
      options_.on_stretch(trained);
    }
  }
  report.cache = stages_.take_cache_use();
  report.disk_reads = stages_.take_disk_reads();
  if (hot_) {
    report.reuse = hot_->report();
  }
  report.history = history_ ? history_->staleness() : Staleness{};
  report.log.trained = state_.trained;
  report.seconds = seconds_before_ + report.log.seconds();
  state_.seconds = report.seconds;
  read_sums();
  report.loss = state_.loss_sum / static_cast<double>(state_.seeds);
  report.train_accuracy = static_cast<double>(state_.correct) / static_cast<double>(state_.seeds);
  return report;
}

Stretch Training::next_stretch(std::int64_t left) const {
  if (!options_.next_stretch) {
    // The rest of a super-batch that a killed run has partly trained is a stretch of its own, so that the
    // following super-batches start at their usual positions.
    const std::int64_t rest = hot_ ? hot_->left_in_super_batch() : 0;
    return {plan_, rest > 0 ? rest : left};
  }
  auto stretch = options_.next_stretch(left);
  check_stretch(stretch, left, options_.device);
  return stretch;
}

/// The train stage, on the device's thread.
void Training::learn(const nn::TensorBatch& data, std::int64_t batch, int device) {
  const nn::AtenThreadsGuard threads(plan_.device_threads);
  if (schedule::averages_gradients(plan_)) {
    replicas_.backward(device, data, state_.epoch, batch);
    return;
  }
  auto& learner = replicas_.first();
  if (history_ && plan_.embeddings.reuse == plan::Reuse::halo) {
    sums_.add(step_with_halo(learner, data, *history_, stages_, state_.epoch, batch));
  } else if (history_) {
    sums_.add(step(learner, data, *history_, stages_, state_.epoch, batch));
  } else {
    learner.step(data, state_.epoch, batch, sums_);
  }
  state_.trained.push_back(batch);
  if (hot_) {
    hot_->end_update();
  }
  save_if_due();
}

/// The all_reduce stage, while no device trains.
std::int64_t Training::average() {
  for (const auto& trained : replicas_.update(state_.epoch, schedule::first_trainer(plan_))) {
    state_.trained.push_back(trained.batch);
    sums_.add(trained.result);
  }
  save_if_due();
  return replicas_.first().weight_bytes();
}

/// Waits for the device.
void Training::read_sums() {
  const auto sums = sums_.read();
  state_.loss_sum = sums.loss_sum;
  state_.correct = sums.correct;
  state_.seeds = sums.seeds;
}

/// Called after an update: the training can be resumed from here.
void Training::save_if_due() {
  if (is_stopped() || save_clock_.is_due()) {
    state_.seconds = seconds_before_ + seconds_since(epoch_begin_);
    if (is_stopped()) {
      stop();
    }
    save();
  }
  base::report(options_.progress, activity_, std::ssize(state_.trained), epoch_batches_);
}

/// While the best weights are tested they stand in the model, and the last epoch has been saved.
void Training::stop() {
  if (!is_concluding_) {
    save();
  }
  throw base::Interrupted();
}

void Training::save() {
  save_clock_.time([&] {
    read_sums();
    if (!options_.run_directory.empty()) {
      state_.carried = hot_ ? hot_->carried() : history_ ? history_->carried() : CarriedTensors();
      if (log_) {  // not while the history begins
        log_->flush();
      }
      write_checkpoint(checkpoint_path(options_.run_directory), state_, replicas_.first());
    }
  });
}

/// Judges the epoch, unless it is between two evaluations, advances to the next one, and saves a checkpoint
/// unless that costs too much after a short epoch.
void Training::end_epoch(const EpochReport& report) {
  if (!evaluation_.is_skipped(report.epoch)) {
    judge(report, model(), state_);
  }
  ++state_.epoch;
  state_.trained.clear();
  state_.loss_sum = state_.seconds = 0;
  state_.correct = state_.seeds = 0;
  sums_ = nn::StepSums();
  if (history_) {
    history_->begin_epoch();
  }
  if (is_finished() || save_clock_.is_due() || save_clock_.is_cheap()) {
    save();
  }
}

TrainReport Training::conclude(std::vector<EpochReport> epochs) {
  TrainReport report;
  report.epochs = std::move(epochs);
  report_best(state_, report);
  report.weights_hash = nn::hash_of(model().state());
  if (!options_.run_directory.empty()) {
    nn::write_safetensors(options_.run_directory / "weights.safetensors",
                          nn::named(model(), state_.best_weights));
  }
  is_concluding_ = true;
  evaluation_.test(model(), state_.best_weights, report);
  return report;
}

}  // namespace

TrainReport train(const graph::Graph& graph, const TrainOptions& options) {
  check_options(graph, options);
  if (!options.run_directory.empty()) {
    open_run_directory(options.run_directory, options.resume);
  }
  if (options.plan.bias > 1) {
    TrainOptions biased = options;
    biased.job.weighted = true;
    return Training(biased_graph(graph, options.plan, options.job.weighted), biased).run();
  }
  return Training(graph, options).run();
}

}  // namespace gnomon::runtime
