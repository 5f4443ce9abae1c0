#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "plan/job.h"

namespace gnomon::tuner {

/// Metrics by name, in the order of the job; absent where undefined.
using NamedMetrics = std::vector<std::pair<std::string, std::optional<double>>>;

/// A summary of a run, from its directory.
struct RunSummary {
  std::filesystem::path directory;
  std::string problem;  ///< why the run cannot be read; the other fields are then meaningless
  std::string data;     ///< empty if the run has not ended
  std::string plan;
  plan::Job job;
  std::int64_t epochs = 0;          ///< trained
  bool has_ended = false;           ///< there is a report
  std::optional<double> epoch_s{};  ///< median of the epochs, without evaluation
  std::optional<double> loss{};     ///< training loss of the last epoch
  std::optional<std::int64_t> best_epoch{};
  NamedMetrics valid{};  ///< of the best epoch; of the last one if the run has not ended
  NamedMetrics test{};   ///< empty if the run has not ended
};

/// Summarises the runs in `directories`: each is a run of gnomon train or autotune, or has runs as its
/// subdirectories, which are listed by name and number. Throws InputError if one is no directory or holds no
/// run.
std::vector<RunSummary> summarise_runs(const std::vector<std::filesystem::path>& directories);

/// The document "gnomon.runs/1".
base::Json to_document(const std::vector<RunSummary>& runs);

}  // namespace gnomon::tuner
