#include "apps/text/training_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "apps/text/format.h"
#include "base/median.h"

namespace gnomon::apps {
namespace {

std::string percent_or_dash(double share) { return std::isnan(share) ? "-" : format_percent(share); }

/// `before` are the columns up to the validation accuracy, `metrics` those of further metrics.
std::string row_of(const std::string& epoch, const std::vector<std::string>& before,
                   const std::vector<std::string>& metrics, const std::vector<std::string>& after) {
  auto row = fmt::format("{:>5}", epoch);
  for (const auto* columns : {&before, &metrics, &after}) {
    for (const auto& column : *columns) {
      row += fmt::format("  {:>8}", column);
    }
  }
  return row + "\n";
}

/// "ROC AUC", "F1 macro" in sentences.
std::string title_of(plan::Metric metric) {
  switch (metric) {
    case plan::Metric::accuracy:
      break;
    case plan::Metric::roc_auc:
      return "ROC AUC";
    case plan::Metric::f1_micro:
      return "micro F1";
    case plan::Metric::f1_macro:
      return "macro F1";
  }
  return "accuracy";
}

/// Quotes a word for the shell.
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

std::string epoch_heading(const std::vector<plan::Metric>& metrics) {
  std::vector<std::string> names;
  for (const auto metric : metrics) {
    if (metric != plan::Metric::accuracy) {
      names.emplace_back(base::name_of(metric));
    }
  }
  const std::string rule(8, '-');
  return row_of("epoch", {"loss", "train", "valid"}, names, {"time", "workers", "device"}) +
         row_of("-----", {rule, rule, rule}, std::vector(names.size(), rule), {rule, rule, rule});
}

std::string epoch_row(const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation) {
  std::vector<std::string> metrics;
  for (const auto& [metric, value] : epoch.valid_metrics) {
    if (metric != plan::Metric::accuracy) {
      metrics.push_back(percent_or_dash(value));
    }
  }
  return row_of(std::to_string(epoch.epoch + 1),
                {fmt::format("{:.4f}", epoch.loss), format_percent(epoch.train_accuracy),
                 percent_or_dash(epoch.valid_accuracy)},
                metrics,
                {format_seconds(epoch.seconds),
                 utilisation.max_workers == 0 ? "-" : format_percent(utilisation.workers),
                 format_percent(utilisation.device)});
}

std::string accuracy_text(const runtime::TrainReport& report) {
  auto text = "test accuracy " + percent_or_dash(report.test_accuracy);
  for (const auto& [metric, value] : report.test_metrics) {
    if (metric != plan::Metric::accuracy) {
      text += ", " + title_of(metric) + " " + percent_or_dash(value);
    }
  }
  text += fmt::format(" (weights of epoch {}", report.best_epoch + 1);
  return text + (std::isnan(report.test_majority)
                     ? ")\n"
                     : "; always the majority class: " + format_percent(report.test_majority) + ")\n");
}

std::string cache_text(const runtime::TrainReport& report) {
  if (report.epochs.empty()) {
    return "";
  }
  const runtime::CacheUse& use = report.epochs.back().cache;
  std::string text;
  const auto add = [&](const char* what, const std::optional<double>& share,
                       const std::optional<double>& by_peers) {
    if (share) {
      text += fmt::format("{}{} of {}{}", text.empty() ? "the cache served " : ", ", format_percent(*share),
                          what, by_peers ? " (" + format_percent(*by_peers) + " by linked devices)" : "");
    }
  };
  add("the rows", use.row_hit_share(), use.row_peer_share());
  add("the lists", use.list_hit_share(), use.list_peer_share());
  return text.empty() ? "" : text + " of the last epoch\n";
}

namespace {

/// The median times of training and evaluation per epoch; empty without evaluation.
std::string times_text(const std::vector<runtime::EpochReport>& epochs) {
  std::vector<double> trained_s;
  std::vector<double> evaluated_s;
  for (const auto& epoch : epochs) {
    trained_s.push_back(epoch.seconds);
    if (!std::isnan(epoch.valid_loss)) {
      evaluated_s.push_back(epoch.evaluation_s);
    }
  }
  return evaluated_s.empty() ? ""
                             : fmt::format("evaluation took {} an epoch beside {} of training (medians)\n",
                                           format_seconds(base::median(evaluated_s)),
                                           format_seconds(base::median(trained_s)));
}

}  // namespace

std::string training_text(const tuner::TrainingRun& run, const tuner::TrainingResult& result) {
  const auto busy = base::busy_text(result.load);
  const bool has_trace = !result.report.epochs.empty();
  return accuracy_text(result.report) + times_text(result.report.epochs) + cache_text(result.report) +
         (busy.empty() ? "" : busy + "\n") + "run: " + run.files.directory.string() +
         (has_trace ? ", trace: " + run.trace.string() : "") + "\n";
}

std::string resume_text(const std::string& data, const std::filesystem::path& directory) {
  return "stopped; resume with: gnomon train " + quoted(data) + " --run " + quoted(directory.string()) +
         " --resume\n";
}

}  // namespace gnomon::apps
