#include "tuner/run/training.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/directory_lock.h"
#include "base/error.h"
#include "base/median.h"
#include "base/output_file.h"
#include "graph/store/names.h"
#include "runtime/training/run_log.h"
#include "runtime/training/train_checks.h"
#include "schedule/timeline.h"
#include "tuner/run/event_file.h"

namespace gnomon::tuner {
namespace {

using runtime::EpochReport;
using schedule::Stage;

EpochUtilisation utilisation_of(const EpochReport& epoch, int workers) {
  const auto share = [&](std::initializer_list<Stage> stages, int engines) {
    return schedule::utilisation(epoch.timeline, stages, epoch.log.begin_s, epoch.log.end_s, engines);
  };
  return {workers, workers == 0 ? 0 : share({Stage::cpu_batch, Stage::group_prepare}, workers),
          share({Stage::device_batch, Stage::device_gather, Stage::train}, 1)};
}

base::Json number_or_null(const std::optional<double>& value) {
  return value ? base::Json(*value) : base::Json();
}

runtime::TrainOptions options_of(const TrainingRun& run) {
  runtime::TrainOptions options;
  options.job = run.job;
  options.plan = run.plan;
  options.device = run.device;
  options.run_directory = run.files.directory;
  options.resume = run.resume;
  if (!run.replay.empty()) {
    options.replay = runtime::read_orders(run.replay);
    if (run.plan.embeddings.reuse == plan::Reuse::hot) {
      options.hot_ratio.counts = runtime::read_hot_counts(run.replay);
    }
  }
  options.hot_ratio.adapt = run.adapt_hot_ratio;
  options.evaluate_every = run.evaluate_every;
  options.next_stretch = run.next_stretch;
  options.predict = !run.predictions.empty();
  options.progress = run.progress;
  options.stop = run.stop;
  return options;
}

/// Throws InputError for options that have no effect or cannot take effect.
void refuse_without_effect(const TrainingRun& run) {
  if (!run.tensorboard.empty() && std::filesystem::exists(run.tensorboard) &&
      !std::filesystem::is_directory(run.tensorboard)) {
    throw base::InputError(run.tensorboard.string(), "is a file; name a directory for TensorBoard's files");
  }
  if (run.job.patience > 0 && run.evaluate_every == 0) {
    throw base::InputError("patience", "counts epochs by their evaluations, of which there are none");
  }
  if (run.adapt_hot_ratio && run.plan.embeddings.reuse != plan::Reuse::hot) {
    throw base::InputError("plan \"" + run.plan.name + "\"",
                           "reuses no hot embeddings, whose number could be adapted");
  }
}

base::Json epoch_document(const EpochReport& epoch, const EpochUtilisation& utilisation) {
  return {{"epoch", epoch.epoch + 1},
          {"loss", epoch.loss},
          {"train_accuracy", epoch.train_accuracy},
          {"valid_accuracy", epoch.valid_accuracy},
          {"valid_metrics", runtime::to_json(epoch.valid_metrics)},
          {"epoch_s", epoch.seconds},
          {"evaluation_s", epoch.evaluation_s},
          {"worker_utilisation", utilisation.workers},
          {"device_utilisation", utilisation.device},
          {"cpu_batches", epoch.log.cpu_batches},
          {"blocked_on_cpu_s", epoch.log.blocked_on_cpu_s},
          {"blocked_on_device_s", epoch.log.blocked_on_device_s},
          {"disk_reads", epoch.disk_reads.reads},
          {"disk_read_bytes", epoch.disk_reads.bytes},
          {"row_hit_share", number_or_null(epoch.cache.row_hit_share())},
          {"list_hit_share", number_or_null(epoch.cache.list_hit_share())},
          {"row_peer_share", number_or_null(epoch.cache.row_peer_share())},
          {"list_peer_share", number_or_null(epoch.cache.list_peer_share())}};
}

/// The scalars of an epoch for TensorBoard.
std::vector<Scalar> scalars_of(const EpochReport& epoch, const EpochUtilisation& utilisation,
                               const plan::Job& job) {
  std::vector<Scalar> scalars = {
      {"loss/train", epoch.loss}, {"loss/valid", epoch.valid_loss}, {"accuracy/train", epoch.train_accuracy}};
  for (const auto& [metric, value] : epoch.valid_metrics) {
    scalars.push_back({std::string(base::name_of(metric)) + "/valid", value});
  }
  scalars.push_back({"learning_rate", plan::learning_rate(job, epoch.epoch)});
  scalars.push_back({"seconds/epoch", epoch.seconds});
  scalars.push_back({"seconds/evaluation", epoch.evaluation_s});
  scalars.push_back({"utilisation/workers", utilisation.workers});
  scalars.push_back({"utilisation/device", utilisation.device});
  return scalars;
}

std::vector<Scalar> test_scalars(const runtime::TrainReport& report) {
  std::vector<Scalar> scalars;
  for (const auto& [metric, value] : report.test_metrics) {
    scalars.push_back({std::string(base::name_of(metric)) + "/test", value});
  }
  return scalars;
}

/// Removes a run that could not begin, unless its directory holds more than what is trained and how.
void forget_run(const RunFiles& files) {
  std::set<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(files.directory)) {
    others.insert(entry.path());
  }
  others.erase(files.job());
  others.erase(files.plan());
  if (others.empty()) {
    std::filesystem::remove_all(files.directory);
  }
}

/// Writes the report and the other requested outputs.
void write_outputs(const graph::Graph& graph, const TrainingRun& run, TrainingResult& result) {
  const auto write = [&](const std::filesystem::path& path, const auto& content) {
    const auto fault = base::try_write_output(path, content);
    result.unwritten += (result.unwritten.empty() || fault.empty() ? "" : "; ") + fault;
  };
  write(run.files.report(),
        [&](const auto& file) { base::write_file_atomically(file, to_document(result).dump(2) + "\n"); });
  if (!run.predictions.empty()) {
    write(run.predictions,
          [&](const auto& file) { write_predictions(file, graph, result.report.predictions); });
  }
  if (!run.trace.empty() && !result.report.epochs.empty()) {
    const auto& timeline = result.report.epochs.back().timeline;
    write(run.trace, [&](const auto& file) { schedule::write_trace(file, {{"measured", timeline}}); });
  }
}

}  // namespace

void check_training(const graph::Graph& graph, const TrainingRun& run) {
  check_is_csv("--predictions", run.predictions);
  refuse_without_effect(run);
  const auto options = options_of(run);
  runtime::check_options(graph, options);
  runtime::check_resumed(graph, options);
}

TrainingResult run_training(const graph::Graph& graph, const TrainingRun& run) {
  check_training(graph, run);
  const base::DirectoryLock lock(run.files.directory);
  std::filesystem::remove(run.files.report());  // of a run that goes on; it is written again
  base::write_document(run.files.job(), run.job);
  base::write_document(run.files.plan(), run.plan);
  const base::LoadMeter meter;
  TrainingResult result;
  result.data = run.data;
  result.directory = run.files.directory;
  result.job = run.job;
  result.plan = run.plan;
  result.graph = {graph.name, graph.num_vertices(), graph.num_edges(), graph.features.columns,
                  std::ssize(graph.train)};
  auto options = options_of(run);
  std::optional<EventFile> events;
  if (!run.tensorboard.empty()) {
    events.emplace(run.tensorboard);
  }
  bool has_begun = run.resume;
  int max_workers = 0;
  options.on_stretch = [&](const runtime::StretchReport& report) {
    result.plan = report.stretch.plan;
    max_workers = std::max(max_workers, report.stretch.plan.workers);
    if (run.on_stretch) {
      run.on_stretch(report);
    }
  };
  options.on_epoch = [&](const EpochReport& epoch) {
    result.utilisation.push_back(utilisation_of(epoch, std::exchange(max_workers, 0)));
    if (events) {
      events->append(epoch.epoch + 1, scalars_of(epoch, result.utilisation.back(), run.job));
    }
    has_begun = true;
    if (run.on_epoch) {
      run.on_epoch(epoch, result.utilisation.back());
    }
  };
  try {
    result.report = runtime::train(graph, options);
  } catch (const base::InputError&) {
    if (!has_begun) {
      forget_run(run.files);
    }
    throw;
  }
  result.load = meter.load();
  if (events) {
    events->append(result.report.best_epoch + 1, test_scalars(result.report));
  }
  write_outputs(graph, run, result);
  return result;
}

void check_is_csv(const std::string& option, const std::filesystem::path& file) {
  const auto extension = file.extension().string();
  for (const char* other : {".parquet", ".feather", ".npy", ".npz", ".json", ".pt"}) {
    if (extension == other) {
      throw base::InputError(option, file.string() + ": classes are written as CSV; name a .csv file");
    }
  }
}

void write_predictions(const std::filesystem::path& file, const graph::Graph& graph,
                       const nn::PredictedClasses& predicted) {
  std::vector<std::pair<graph::VertexId, std::size_t>> rows;
  for (std::size_t vertex = 0; vertex < predicted.vertices(); ++vertex) {
    rows.emplace_back(graph.original_id(static_cast<graph::VertexId>(vertex)), vertex);
  }
  std::sort(rows.begin(), rows.end());
  const graph::VertexNames names(graph.directory);
  std::string text = "vertex,class\n";
  for (const auto& [id, vertex] : rows) {
    text += names.csv_cell(id);
    char before = ',';
    for (const std::int32_t predicted_class : predicted.of(vertex)) {
      text += before + std::to_string(predicted_class);
      before = ' ';
    }
    text += before == ',' ? ",\n" : "\n";
  }
  base::write_file_atomically(file, text);
}

base::Json to_document(const TrainingResult& result) {
  const auto& report = result.report;
  base::Json epochs = base::Json::array();
  for (std::size_t i = 0; i < report.epochs.size(); ++i) {
    epochs.push_back(epoch_document(report.epochs[i], result.utilisation[i]));
  }
  return {{"schema", "gnomon.training/1"},
          {"data", result.data},
          {"run", result.directory.string()},
          {"job", base::write_value(result.job)},
          {"plan", base::write_value(result.plan)},
          {"epochs", epochs},
          {"best_epoch", report.best_epoch + 1},
          {"valid_accuracy", report.valid_accuracy},
          {"test_accuracy", report.test_accuracy},
          {"valid_metrics", runtime::to_json(report.valid_metrics)},
          {"test_metrics", runtime::to_json(report.test_metrics)},
          {"test_majority", report.test_majority},
          {"weights_hash", report.weights_hash},
          {"graph", base::write_value(result.graph)},
          {"load", result.load ? base::write_value(*result.load) : base::Json()}};
}

double TrainingResult::median_epoch_s() const {
  std::vector<double> seconds;
  for (const auto& epoch : report.epochs) {
    seconds.push_back(epoch.seconds);
  }
  return seconds.empty() ? 0 : base::median(seconds);
}

}  // namespace gnomon::tuner
