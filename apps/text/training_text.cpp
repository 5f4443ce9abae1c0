#include "apps/text/training_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "apps/text/format.h"

namespace gnomon::apps {
namespace {

std::string percent_or_dash(double share) { return std::isnan(share) ? "-" : format_percent(share); }

std::string row_of(const std::string& epoch, const std::string& loss, const std::string& train,
                   const std::string& valid, const std::string& time, const std::string& workers,
                   const std::string& device) {
  return fmt::format("{:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}\n", epoch, loss, train, valid, time,
                     workers, device);
}

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

std::string epoch_heading() {
  return row_of("epoch", "loss", "train", "valid", "time", "workers", "device") +
         row_of("-----", "--------", "--------", "--------", "--------", "--------", "--------");
}

std::string epoch_row(const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation) {
  return row_of(std::to_string(epoch.epoch + 1), fmt::format("{:.4f}", epoch.loss),
                format_percent(epoch.train_accuracy), percent_or_dash(epoch.valid_accuracy),
                format_seconds(epoch.seconds),
                utilisation.max_workers == 0 ? "-" : format_percent(utilisation.workers),
                format_percent(utilisation.device));
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

std::string resume_text(const std::string& data, const std::filesystem::path& directory) {
  return "stopped; resume with: gnomon train " + quoted(data) + " --run " + quoted(directory.string()) +
         " --resume\n";
}

}  // namespace gnomon::apps
