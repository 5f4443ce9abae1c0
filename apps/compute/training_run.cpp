#include "apps/compute/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <utility>

#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "base/error.h"
#include "profiles/measure/statistics.h"
#include "runtime/training/run_log.h"
#include "schedule/timeline.h"

namespace gnomon::apps {
namespace {

using runtime::EpochReport;
using schedule::Stage;

EpochUse use_of(const EpochReport& epoch, int workers) {
  const auto share = [&](std::initializer_list<Stage> stages, int lanes) {
    return schedule::utilisation(epoch.timeline, stages, epoch.log.begin_s, epoch.log.end_s, lanes);
  };
  return {workers, workers == 0 ? 0 : share({Stage::cpu_batch}, workers),
          share({Stage::device_batch, Stage::device_gather, Stage::train}, 1)};
}

base::Json number_or_null(const std::optional<double>& value) {
  return value ? base::Json(*value) : base::Json();
}

std::string percent_or_dash(double share) { return std::isnan(share) ? "-" : format_percent(share); }

/// Rows must come one by one, so the widths are fixed.
std::string row_of(const std::string& epoch, const std::string& loss, const std::string& train,
                   const std::string& valid, const std::string& time, const std::string& workers,
                   const std::string& device) {
  return fmt::format("{:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}\n", epoch, loss, train, valid, time,
                     workers, device);
}

std::string heading() {
  return row_of("epoch", "loss", "train", "valid", "time", "workers", "device") +
         row_of("-----", "--------", "--------", "--------", "--------", "--------", "--------");
}

std::string row_of(const EpochReport& epoch, const EpochUse& use) {
  return row_of(std::to_string(epoch.epoch + 1), fmt::format("{:.4f}", epoch.loss),
                format_percent(epoch.train_accuracy), percent_or_dash(epoch.valid_accuracy),
                format_seconds(epoch.seconds), use.most_workers == 0 ? "-" : format_percent(use.workers),
                format_percent(use.device));
}

/// A progress bar that makes way for table rows on stdout.
class BarAndTable {
 public:
  explicit BarAndTable(bool quiet) : quiet_(quiet) {
    if (!quiet_) {
      std::cout << heading() << std::flush;
    }
  }
  base::Progress progress() {
    return [this](std::string_view what, std::int64_t done, std::int64_t total) {
      if (!bar_) {
        bar_.emplace();
      }
      base::report(bar_->progress(), what, done, total);
    };
  }
  void add(const std::string& row) {
    bar_.reset();
    if (!quiet_) {
      std::cout << row << std::flush;
    }
  }

 private:
  bool quiet_;
  std::optional<ProgressBar> bar_;
};

/// A word as the shell reads it back.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") ==
          std::string::npos &&
      !word.empty()) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

}  // namespace

TrainingResult train_with_table(const graph::Graph& graph, const TrainingRun& run) {
  base::write_document(run.files.job(), run.job);
  base::write_document(run.files.plan(), run.plan);
  TrainingResult result;
  BarAndTable table(run.quiet);
  runtime::TrainOptions options;
  options.job = run.job;
  options.plan = run.plan;
  options.device = run.device;
  options.run_directory = run.files.directory;
  options.resume = run.resume;
  if (!run.replay.empty()) {
    options.replay = runtime::read_orders(run.replay);
  }
  result.plan = run.plan;
  result.graph = {graph.name, graph.num_vertices(), graph.num_edges(), graph.features.columns,
                  std::ssize(graph.train)};
  int most_workers = 0;
  options.next_stretch = run.next_stretch;
  options.on_stretch = [&](const runtime::StretchReport& report) {
    result.plan = report.stretch.plan;
    most_workers = std::max(most_workers, report.stretch.plan.workers);
    if (run.on_stretch) {
      run.on_stretch(report);
    }
  };
  options.predict = !run.predictions.empty();
  options.on_epoch = [&](const EpochReport& epoch) {
    result.use.push_back(use_of(epoch, std::exchange(most_workers, 0)));
    table.add(row_of(epoch, result.use.back()));
  };
  options.progress = table.progress();
  options.stop = &stop_on_interrupt();
  try {
    result.report = runtime::train(graph, options);
    table.add("");
    if (options.predict) {
      write_predictions(run.predictions, graph, result.report.predictions);
    }
    base::write_file_atomically(run.files.report(), to_document(run, result).dump(2) + "\n");
    return result;
  } catch (const base::Interrupted&) {
    table.add("");
    std::cerr << "stopped; go on with: gnomon train " << quoted(run.data) << " --run "
              << quoted(run.files.directory.string()) << " --resume\n";
    throw;
  }
}

void write_predictions(const std::filesystem::path& file, const graph::Graph& graph,
                       const std::vector<std::int32_t>& classes) {
  std::vector<std::pair<graph::VertexId, std::int32_t>> rows;
  for (std::size_t vertex = 0; vertex < classes.size(); ++vertex) {
    rows.emplace_back(graph.original_id(static_cast<graph::VertexId>(vertex)), classes[vertex]);
  }
  std::sort(rows.begin(), rows.end());
  std::string text = "vertex,class\n";
  for (const auto& [vertex, predicted] : rows) {
    text += fmt::format("{},{}\n", vertex, predicted);
  }
  base::write_file_atomically(file, text);
}

std::string accuracy_text(const runtime::TrainReport& report) {
  return fmt::format("test accuracy {} (weights of epoch {})\n", percent_or_dash(report.test_accuracy),
                     report.best_epoch + 1);
}

std::string cache_text(const runtime::TrainReport& report) {
  if (report.epochs.empty()) {
    return "";
  }
  const runtime::CacheUse& use = report.epochs.back().cache;
  std::string text;
  const auto add = [&](const char* what, const std::optional<double>& share) {
    if (share) {
      text += fmt::format("{}{} of {}", text.empty() ? "the device's cache answered " : ", ",
                          format_percent(*share), what);
    }
  };
  add("the rows", use.row_hit_share());
  add("the lists", use.list_hit_share());
  return text.empty() ? "" : text + " of the last epoch\n";
}

base::Json to_document(const TrainingRun& run, const TrainingResult& result) {
  const auto& report = result.report;
  base::Json epochs = base::Json::array();
  for (std::size_t i = 0; i < report.epochs.size(); ++i) {
    const auto& epoch = report.epochs[i];
    epochs.push_back({{"epoch", epoch.epoch},
                      {"loss", epoch.loss},
                      {"train_accuracy", epoch.train_accuracy},
                      {"valid_accuracy", epoch.valid_accuracy},
                      {"epoch_s", epoch.seconds},
                      {"evaluation_s", epoch.evaluation_s},
                      {"worker_utilisation", result.use[i].workers},
                      {"device_utilisation", result.use[i].device},
                      {"cpu_batches", epoch.log.cpu_batches},
                      {"blocked_on_cpu_s", epoch.log.blocked_on_cpu_s},
                      {"blocked_on_device_s", epoch.log.blocked_on_device_s},
                      {"row_hit_share", number_or_null(epoch.cache.row_hit_share())},
                      {"list_hit_share", number_or_null(epoch.cache.list_hit_share())}});
  }
  return {{"schema", "gnomon.training/1"},           {"data", run.data},
          {"run", run.files.directory.string()},     {"job", base::write_value(run.job)},
          {"plan", base::write_value(result.plan)},  {"epochs", epochs},
          {"best_epoch", report.best_epoch},         {"valid_accuracy", report.valid_accuracy},
          {"test_accuracy", report.test_accuracy},   {"weights_hash", report.weights_hash},
          {"graph", base::write_value(result.graph)}};
}

double TrainingResult::median_epoch_s() const {
  std::vector<double> seconds;
  for (const auto& epoch : report.epochs) {
    seconds.push_back(epoch.seconds);
  }
  return seconds.empty() ? 0 : profiles::median(seconds);
}

}  // namespace gnomon::apps
