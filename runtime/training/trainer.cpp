#include "runtime/training/trainer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/metrics.h"
#include "nn/safetensors.h"
#include "plan/disk_plans.h"
#include "runtime/device.h"
#include "runtime/host_machine.h"
#include "runtime/placement.h"
#include "runtime/stages.h"
#include "runtime/training/biased_graph.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/history.h"
#include "runtime/training/history_step.h"
#include "runtime/training/replicas.h"
#include "runtime/training/run_log.h"
#include "runtime/training/train_checks.h"
#include "schedule/run_epoch.h"

namespace gnomon::runtime {
namespace {

using schedule::Stage;
using Clock = std::chrono::steady_clock;

/// Minimum age of the last checkpoint for another one before an evaluation.
constexpr double min_save_s = 1;
/// Maximum share of the time that checkpoints at the ends of epochs may take.
constexpr double save_share = 0.05;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A plan that replays trains in the given order.
plan::Plan in_order(plan::Plan plan) {
  plan.macro.passes = 1;  // further ones are in the order
  if (plan.schedule != plan::Schedule::sequential && plan.order == plan::Order::as_ready) {
    plan.order = plan::Order::index;
    if (plan.uses_cpu_route() && plan.schedule != plan::Schedule::macro_batch) {
      plan.schedule = plan::Schedule::pipelined;
      plan.route = plan::Route::cpu;
    }
  }
  return plan;
}

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

std::optional<double> if_defined(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

/// Removes temporary files of a checkpoint or log that a killed run has left.
void remove_temporaries(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) {
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

/// Appends a stretch to its epoch, whose clock is stopped between stretches.
void append(EpochReport& epoch, const StretchReport& stretch) {
  const bool is_first = epoch.timeline.empty();
  const double shift_s = is_first ? 0 : epoch.log.end_s - stretch.log.begin_s;
  for (auto span : stretch.timeline) {
    span.begin_s += shift_s;
    span.end_s += shift_s;
    epoch.timeline.push_back(span);
  }
  epoch.log.begin_s = is_first ? stretch.log.begin_s : epoch.log.begin_s;
  epoch.log.end_s = stretch.log.end_s + shift_s;
  epoch.log.cpu_batches += stretch.log.cpu_batches;
  epoch.log.blocked_on_cpu_s += stretch.log.blocked_on_cpu_s;
  epoch.log.blocked_on_device_s += stretch.log.blocked_on_device_s;
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
  StageWork stage_work();
  std::unique_ptr<HostMachine> take_machine(const plan::Plan& before);
  EpochReport train_epoch();
  Stretch next_stretch(std::int64_t left) const;
  StretchReport train_stretch(const Stretch& stretch, const std::vector<std::int64_t>& order);
  void learn_times(const schedule::StageTimes& times);
  void learn(const nn::TensorBatch& data, std::int64_t batch, int device);
  void begin_history();
  std::int64_t average();
  void read_sums();
  void save_if_due();
  MetricValues measure(const at::Tensor& logits, std::span<const graph::VertexId> vertices) const;
  bool is_evaluated(std::int64_t epoch) const;
  void evaluate(EpochReport& report);
  bool is_better(const EpochReport& report) const;
  void end_epoch(const EpochReport& report);
  at::Tensor infer(std::span<const graph::VertexId> vertices, std::vector<at::Tensor>* hidden = nullptr);
  TrainReport conclude(std::vector<EpochReport> epochs);
  void test(TrainReport& report);

  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  [[noreturn]] void stop();
  void save();
  bool is_save_asked() const { return seconds_since(last_save_) >= options_.checkpoint_every_s; }
  bool is_save_cheap() const { return save_s_ <= save_share * seconds_since(last_save_); }

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
  std::int64_t epoch_batches_ = 0;      ///< of this epoch, as far as known at its begin
  double seconds_before_ = 0;           ///< of this epoch, in the run that is resumed
  schedule::StageTimes usual_{};        ///< of stages, as far as they have run
  Clock::time_point epoch_begin_;
  Clock::time_point last_save_ = Clock::now();
  double save_s_ = 0;                     ///< what that took
  std::optional<RunLog> log_;             ///< of runs with a directory
  std::unique_ptr<HostMachine> machine_;  ///< of the last stretch; after what its threads use
};

Training::Training(const graph::Graph& graph, const TrainOptions& options)
    : graph_(graph),
      options_(options),
      plan_(options.replay.empty() ? options.plan : in_order(options.plan)),
      replicas_(options.job, graph.features.columns, graph.num_classes, tensor_device(options.device),
                schedule::averages_gradients(plan_) ? plan_.devices : 1),
      stages_(
          graph_of_stages(graph, plan_), job_of_stages(options.job, plan_), plan_,
          [this](const nn::TensorBatch& data, std::int64_t batch, int device) { learn(data, batch, device); },
          options.device, options.progress, [this] { return average(); }) {
  check_replayed(options);
  check_replay(options.replay, options.plan, [this](std::int64_t epoch) { return stages_.batches(epoch); });
  check_hot_counts(options, stages_.batches());
  replicas_.first().use_graphs(plan_.graphs);
  if (plan_.embeddings.reuse == plan::Reuse::hot) {
    hot_ = std::make_unique<HotEmbeddings>(stages_.placed(), options.job, plan_, replicas_.first().model(),
                                           options.hot_ratio, options.progress);
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
  const auto path = checkpoint_path(options_.run_directory).string() + ": plan.embeddings.reuse";
  const bool was_saved = History::is_in(state_.carried);
  if (!keeps_history(plan_)) {
    if (was_saved) {
      throw base::InputError(path,
                             "the run was started with \"all\" or \"halo\"; resume with that, or use a new "
                             "run directory");
    }
    return;
  }
  if (was_saved) {
    history_.emplace(state_.carried);
    return;
  }
  if (state_.epoch > 0 || !state_.trained.empty()) {
    throw base::InputError(path, "the run was started without historical embeddings, not with \"" +
                                     std::string(base::name_of(plan_.embeddings.reuse)) +
                                     "\"; use a new run directory");
  }
  std::vector<at::Tensor> hidden;
  if (replicas_.first().model().num_layers() > 1) {
    infer({}, &hidden);
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
  if (plan::reads_disk(plan_) && is_evaluated(options_.job.epochs - 1)) {
    stages_.hold_evaluation(
        nn::inference_bytes(graph_, replicas_.first().model(), {.vertices = graph_.valid}));
  }
  begin_history();
  if (!options_.run_directory.empty()) {
    log_.emplace(options_.run_directory, state_.epoch);
  }
  std::vector<EpochReport> epochs;
  while (!is_finished()) {
    auto report = train_epoch();
    if (seconds_since(last_save_) >= min_save_s) {
      save();  // an evaluation that fails (out of memory, say) must not lose the epoch
    }
    evaluate(report);
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

/// The stages' work, preceded by the test hook.
StageWork Training::stage_work() {
  auto work = stages_.work();
  if (!options_.before_stage) {
    return work;
  }
  const auto before = [this](Stage stage, std::int64_t position) {
    options_.before_stage(stage, stages_.batch_of(position));
  };
  const auto put_behind_seam = [before](Stage stage, std::function<void(std::int64_t, int)>& of_batch) {
    of_batch = [before, stage, inner = std::move(of_batch)](std::int64_t position, int where) {
      before(stage, position);
      inner(position, where);
    };
  };
  put_behind_seam(Stage::cpu_batch, work.cpu_batch);
  put_behind_seam(Stage::transfer, work.transfer);
  put_behind_seam(Stage::device_batch, work.device_batch);
  put_behind_seam(Stage::train, work.train);
  put_behind_seam(Stage::device_gather, work.device_gather);
  work.group_prepare = [this, inner = std::move(work.group_prepare)](std::int64_t group, int worker) {
    options_.before_stage(Stage::group_prepare, group);
    inner(group, worker);
  };
  const auto put_group_behind_seam = [this](Stage stage, std::function<void(std::int64_t)>& of_group) {
    of_group = [this, stage, inner = std::move(of_group)](std::int64_t group) {
      options_.before_stage(stage, group);
      inner(group);
    };
  };
  put_group_behind_seam(Stage::group_transfer, work.group_transfer);
  if (work.group_read) {
    put_group_behind_seam(Stage::group_read, work.group_read);
  }
  return work;
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
    auto trained = train_stretch(stretch, {next, end});
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

/// Reuses the machine of the previous stretch, whose threads are warm, if the plan has the same threads;
/// otherwise creates a new one.
std::unique_ptr<HostMachine> Training::take_machine(const plan::Plan& before) {
  const auto cores = worker_cores(plan_);
  const bool beside = works_beside_training(plan_);
  if (machine_ && before.workers == plan_.workers && worker_cores(before) == cores &&
      works_beside_training(before) == beside) {
    machine_->begin_run();
    return std::move(machine_);
  }
  machine_.reset();
  return std::make_unique<HostMachine>(plan_.workers, stage_work(), cores, beside, plan_.devices);
}

StretchReport Training::train_stretch(const Stretch& stretch, const std::vector<std::int64_t>& order) {
  const auto before = std::exchange(plan_, stretch.plan);
  stages_.take_plan(plan_);
  stages_.begin_epoch(state_.epoch, order, hot_.get(), std::ssize(state_.trained));
  auto machine = take_machine(before);  // put back after a run without an exception
  schedule::TracedMachine traced(*machine, usual_);
  StretchReport report{stretch, state_.epoch, schedule::run_epoch(plan_, std::ssize(order), traced),
                       traced.timeline()};
  machine_ = std::move(machine);
  learn_times(schedule::mean_times(report.timeline));
  const auto batch_at = [&](std::int64_t position) { return stages_.batch_of(position); };
  for (auto& span : report.timeline) {
    span.batch = schedule::is_of_batch(span.stage) ? batch_at(span.batch) : span.batch;
  }
  std::transform(report.log.trained.begin(), report.log.trained.end(), report.log.trained.begin(), batch_at);
  return report;
}

/// Stages that did not run in a stretch keep their previous times.
void Training::learn_times(const schedule::StageTimes& times) {
  for (std::size_t stage = 0; stage < times.size(); ++stage) {
    usual_[stage] = times[stage] > 0 ? times[stage] : usual_[stage];
  }
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
  if (is_stopped() || is_save_asked()) {
    state_.seconds = seconds_before_ + seconds_since(epoch_begin_);
    if (is_stopped()) {
      stop();
    }
    save();
  }
  base::report(options_.progress, activity_, std::ssize(state_.trained), epoch_batches_);
}

void Training::stop() {
  save();
  throw base::Interrupted();
}

void Training::save() {
  const auto begin = Clock::now();
  read_sums();
  if (!options_.run_directory.empty()) {
    state_.carried = hot_ ? hot_->carried() : history_ ? history_->carried() : CarriedTensors();
    log_->flush();
    write_checkpoint(checkpoint_path(options_.run_directory), state_, replicas_.first());
  }
  last_save_ = Clock::now();
  save_s_ = seconds_since(begin);
}

/// The logits of these vertices, or of all if there are none, and the outputs of hidden layers if asked for.
at::Tensor Training::infer(std::span<const graph::VertexId> vertices, std::vector<at::Tensor>* hidden) {
  // The workers have nothing to do meanwhile.
  const nn::AtenThreadsGuard threads(plan_.device_threads + plan_.workers);
  nn::InferenceOptions inference{.vertices = vertices};
  inference.hidden = hidden;
  inference.between_chunks = [this] {
    if (is_stopped()) {
      stop();
    }
  };
  return nn::infer(graph_, replicas_.first().model(), inference);
}

MetricValues Training::measure(const at::Tensor& logits, std::span<const graph::VertexId> vertices) const {
  const auto& metrics = options_.job.metrics;
  return with_names(metrics, nn::measure(metrics, logits, graph_.labels, vertices));
}

bool Training::is_evaluated(std::int64_t epoch) const {
  const auto every = options_.evaluate_every;
  return !graph_.valid.empty() && every > 0 && ((epoch + 1) % every == 0 || epoch + 1 == options_.job.epochs);
}

void Training::evaluate(EpochReport& report) {
  const auto begin = Clock::now();
  report.valid_accuracy = report.valid_loss = std::numeric_limits<double>::quiet_NaN();
  report.valid_metrics = undefined_metrics(options_.job.metrics);
  if (is_evaluated(report.epoch)) {
    const auto logits = infer(graph_.valid);
    const auto [accuracy, loss] = nn::score(logits, graph_.labels, graph_.valid);
    report.valid_accuracy = accuracy;
    report.valid_loss = loss;
    report.valid_metrics = measure(logits, graph_.valid);
  }
  report.evaluation_s = seconds_since(begin);
}

/// Compares with the best epoch so far. With few validation vertices accuracies are often equal, and then the
/// loss decides.
bool Training::is_better(const EpochReport& report) const {
  const double judged = report.valid_metrics.front().value;
  const double best = *state_.best_judged();
  if (judged != best) {
    return judged > best;
  }
  return std::isfinite(report.valid_loss) &&
         (!state_.best_valid_loss || report.valid_loss < *state_.best_valid_loss);
}

/// Evaluates the epoch, unless it is between two evaluations, advances to the next one, and saves a
/// checkpoint unless that costs too much after a short epoch.
void Training::end_epoch(const EpochReport& report) {
  const bool is_skipped = options_.evaluate_every > 0 && !graph_.valid.empty() && !is_evaluated(report.epoch);
  const bool is_judged = !std::isnan(report.valid_metrics.front().value);
  if (is_skipped) {
    // Decided by the next evaluation.
  } else if (!is_judged || !state_.best_judged() || is_better(report)) {
    state_.best_weights = copies_of(replicas_.first().model().state());
    state_.best_epoch = state_.epoch;
    state_.epochs_since_best = 0;
    state_.best_valid = if_defined(report.valid_accuracy);
    state_.best_metrics.clear();
    std::transform(report.valid_metrics.begin(), report.valid_metrics.end(),
                   std::back_inserter(state_.best_metrics),
                   [](const MetricValue& metric) { return if_defined(metric.value); });
    state_.best_valid_loss =
        std::isfinite(report.valid_loss) ? std::optional(report.valid_loss) : std::nullopt;
  } else {
    state_.epochs_since_best = state_.epoch - state_.best_epoch;
  }
  ++state_.epoch;
  state_.trained.clear();
  state_.loss_sum = state_.seconds = 0;
  state_.correct = state_.seeds = 0;
  sums_ = nn::StepSums();
  if (history_) {
    history_->begin_epoch();
  }
  if (is_finished() || is_save_asked() || is_save_cheap()) {
    save();
  }
}

TrainReport Training::conclude(std::vector<EpochReport> epochs) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  TrainReport report;
  report.epochs = std::move(epochs);
  report.best_epoch = state_.best_epoch;
  report.valid_accuracy = state_.best_valid.value_or(nan);
  report.valid_metrics = undefined_metrics(options_.job.metrics);
  report.valid_metrics.front().value = state_.best_judged().value_or(nan);
  for (std::size_t i = 0; i < state_.best_metrics.size(); ++i) {
    report.valid_metrics[i].value = state_.best_metrics[i].value_or(nan);
  }
  report.weights_hash = nn::hash_of(replicas_.first().model().state());
  report.test_accuracy = nan;
  report.test_metrics = undefined_metrics(options_.job.metrics);
  report.test_majority = nn::majority_accuracy(graph_.labels, graph_.train, graph_.test);
  if (!options_.run_directory.empty()) {
    nn::write_safetensors(options_.run_directory / "weights.safetensors",
                          nn::named(replicas_.first().model(), state_.best_weights));
  }
  if ((!graph_.test.empty() && options_.evaluate_every > 0) || options_.predict) {
    test(report);
  }
  return report;
}

/// Evaluates the best weights.
void Training::test(TrainReport& report) {
  const auto weights = replicas_.first().model().state();
  const auto last_weights = copies_of(weights);
  nn::copy_values(state_.best_weights, weights);
  const auto restore = std::shared_ptr<void>(nullptr, [&](void*) { nn::copy_values(last_weights, weights); });
  auto logits = infer(options_.predict ? std::span<const graph::VertexId>() : graph_.test);
  if (options_.predict) {
    report.predictions = nn::predicted_classes(logits);
    logits = nn::rows_of_vertices(logits, graph_.test);
  }
  report.test_accuracy = nn::score(logits, graph_.labels, graph_.test).accuracy;
  report.test_metrics = measure(logits, graph_.test);
}

}  // namespace

TrainReport train(const graph::Graph& graph, const TrainOptions& options) {
  check_options(graph, options);
  if (!options.run_directory.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.run_directory, failed);
    if (failed) {
      throw base::Failure(options.run_directory.string(), "cannot be created: " + failed.message());
    }
    remove_temporaries(options.run_directory);
    if (!options.resume) {
      std::filesystem::remove(
          checkpoint_path(options.run_directory));  // or a later resume would mix two runs
    }
  }
  if (options.plan.bias > 1) {
    TrainOptions biased = options;
    biased.job.weighted = true;
    return Training(biased_graph(graph, options.plan, options.job.weighted), biased).run();
  }
  return Training(graph, options).run();
}

}  // namespace gnomon::runtime
