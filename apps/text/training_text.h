#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/training/trainer.h"
#include "tuner/run/training.h"

namespace gnomon::apps {

/// The heading and one row of the table of epochs, with a column for each metric beyond accuracy. Rows are
/// printed one by one, so the widths are fixed.
std::string epoch_heading(const std::vector<plan::Metric>& metrics);
std::string epoch_row(const runtime::EpochReport& epoch, const tuner::EpochUtilisation& utilisation);

/// One line: the test accuracy and the other test metrics, the epoch whose weights have them, and the share
/// of the majority class.
std::string accuracy_text(const runtime::TrainReport& report);

/// One line: the share that a device's caches answered in the last epoch; empty without caches.
std::string cache_text(const runtime::TrainReport& report);

/// The lines after the table of epochs: accuracy, caches, a busy machine, and where run and trace are.
std::string training_text(const tuner::TrainingRun& run, const tuner::TrainingResult& result);

/// One line: the command that resumes the run.
std::string resume_text(const std::string& data, const std::filesystem::path& directory);

}  // namespace gnomon::apps
