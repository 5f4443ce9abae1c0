#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/other_load.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "nn/predicted_classes.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"
#include "tuner/run/run_directory.h"
#include "tuner/surrogate/learned_accuracy.h"

namespace gnomon::tuner {

/// Utilisation of the machine in an epoch, from 0 to 1.
struct EpochUtilisation {
  int max_workers = 0;  ///< maximum over the plans that trained it
  double workers = 0;   ///< mean utilisation of that many workers
  double device = 0;
};

/// One training with its run directory.
struct TrainingRun {
  std::string data;  ///< the graph, as the user named it
  RunFiles files;
  plan::Job job;
  plan::Plan plan;  ///< resolved
  bool resume = false;
  std::int64_t evaluate_every = 1;      ///< epochs, as in runtime::TrainOptions; 0: never
  std::filesystem::path replay;         ///< an order.jsonl whose update order is followed; empty: none
  bool adapt_hot_ratio = false;         ///< as runtime::HotRatioOptions::adapt
  std::filesystem::path predictions{};  ///< where the class of each vertex is written; empty: nowhere
  std::filesystem::path tensorboard{};  ///< directory for TensorBoard's event files; empty: none is written
  std::filesystem::path trace{};        ///< where the last epoch's timeline is written; empty: nowhere
  runtime::DeviceOptions device{};
  /// As in runtime::TrainOptions.
  std::function<runtime::Stretch(std::int64_t left)> next_stretch{};
  std::function<void(const runtime::StretchReport&)> on_stretch{};
  std::function<void(const runtime::EpochReport&, const EpochUtilisation&)> on_epoch{};
  base::Progress progress{};
  const std::atomic<bool>* stop = nullptr;
};

struct TrainingResult {
  std::string data;
  std::filesystem::path directory;
  plan::Job job;
  runtime::TrainReport report;
  std::vector<EpochUtilisation> utilisation;  ///< of each epoch of the report
  plan::Plan plan;                            ///< the plan that trained last
  GraphSizes graph;
  std::optional<base::OtherLoad> load{};  ///< by others, during the training
  /// Why an output could not be written, and where it is kept instead; empty if all were written.
  std::string unwritten;

  /// Median of the epochs' times, as the first epoch also warms up; 0 without epochs.
  double median_epoch_s() const;
};

/// Throws what run_training() would throw because of the arguments, a replay or the checkpoint of a run to
/// resume; changes nothing.
void check_training(const graph::Graph& graph, const TrainingRun& run);

/// Writes job and plan to the run's directory, trains, and writes the report and, if asked for, predictions
/// and trace. An output that cannot be written is kept elsewhere (base::try_write_output). Throws what
/// runtime::train throws, and InputError if another process uses the directory; after Interrupted the run can
/// be resumed. A run that could not begin because of its input leaves no documents.
TrainingResult run_training(const graph::Graph& graph, const TrainingRun& run);

/// Writes a CSV file "vertex,class" with the predicted class of each vertex, sorted by original id; of a
/// multi-label graph its classes, ascending, with blanks between them. Atomic.
void write_predictions(const std::filesystem::path& file, const graph::Graph& graph,
                       const nn::PredictedClasses& predicted);

/// Throws InputError, which names the option, if a file of predicted classes has an extension of another
/// format than CSV.
void check_is_csv(const std::string& option, const std::filesystem::path& file);

/// The document "gnomon.training/1".
base::Json to_document(const TrainingResult& result);

}  // namespace gnomon::tuner
