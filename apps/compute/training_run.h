#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/run_directory.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"
#include "tuner/surrogate/learned_accuracy.h"

namespace gnomon::apps {

/// One training as a command starts it.
struct TrainingRun {
  std::string data;  ///< as the user named it
  RunFiles files;
  plan::Job job;
  plan::Plan plan;  ///< resolved
  bool resume = false;
  std::filesystem::path replay;  ///< an order.jsonl whose update order is followed; empty: none
  bool quiet = false;            ///< no table on stdout (it will carry a document)
  /// As runtime::TrainOptions has them.
  std::function<runtime::Stretch(std::int64_t left)> next_stretch{};
  std::function<void(const runtime::StretchReport&)> on_stretch{};
  std::filesystem::path predictions{};  ///< where the class of each vertex is written; empty: nowhere
  runtime::DeviceOptions device{};
};

/// How busy an epoch kept the machine, 0 to 1.
struct EpochUse {
  int most_workers = 0;  ///< of the plans that trained it
  double workers = 0;    ///< of that many
  double device = 0;
};

struct TrainingResult {
  runtime::TrainReport report;
  std::vector<EpochUse> use;  ///< of each epoch of the report
  plan::Plan plan;            ///< that trained last
  tuner::GraphSizes graph;

  /// The middle one of the epochs' times: the first one also warms up. 0 without epochs.
  double median_epoch_s() const;
};

/// Writes job and plan to the run's directory, trains with a progress bar and a table row for each epoch.
/// After Ctrl-C it says on stderr how to go on and throws Interrupted.
TrainingResult train_with_table(const graph::Graph& graph, const TrainingRun& run);

/// Lines "vertex,class" under that heading: each vertex by the data's own id, ascending, and its predicted
/// class. Written atomically.
void write_predictions(const std::filesystem::path& file, const graph::Graph& graph,
                       const std::vector<std::int32_t>& classes);

/// One line: the test accuracy and which epoch's weights have it.
std::string accuracy_text(const runtime::TrainReport& report);

/// One line: what a device's caches answered in the last epoch; empty where there were none.
std::string cache_text(const runtime::TrainReport& report);

/// A training as a document (gnomon.training/1).
base::Json to_document(const TrainingRun& run, const TrainingResult& result);

}  // namespace gnomon::apps
