#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "graph/graph.h"
#include "nn/learner.h"
#include "plan/job.h"

namespace gnomon::runtime {

/// Identifies a graph without reading all of it: its sizes, and a hash of a few thousand of its numbers.
struct GraphMark {
  std::int64_t vertices = 0, edges = 0, columns = 0, classes = 0;
  std::int64_t train = 0, valid = 0, test = 0;
  std::uint64_t sample = 0;
  bool multilabel = false;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("vertices", self.vertices);
    f.required("edges", self.edges);
    f.required("columns", self.columns);
    f.required("classes", self.classes);
    f.required("train", self.train);
    f.required("valid", self.valid);
    f.required("test", self.test);
    f.required("sample", self.sample);
    f("multilabel", self.multilabel);
  }
  bool operator==(const GraphMark&) const = default;
};

GraphMark mark_of(const graph::Graph& graph);

/// State that a plan's training carries from one mini-batch to the next in addition to weights and optimiser,
/// such as reused embeddings: tensors by name, for instance "hot_numbers". A name begins with that of its
/// component. Before each save the trainer asks the component for its tensors (shared, not copied: the file
/// is written before training continues) and stores them in RunState::carried; after read_checkpoint() it
/// passes them back. If a checkpoint has no tensors for a component, the component starts afresh. Loaded
/// tensors are on the CPU.
using CarriedTensors = std::map<std::string, at::Tensor>;

/// The state of a run. Together with the learner's state it suffices for a resumed run to end with the bits
/// of an uninterrupted one.
struct RunState {
  static constexpr std::string_view schema = "gnomon.checkpoint/1";
  plan::Job job;
  GraphMark graph;
  /// Number of finished epochs: the index, counted from 0, of the epoch in progress. Unlike in logs, it is
  /// not counted from 1, so that checkpoints of earlier versions stay valid.
  std::int64_t epoch = 0;
  std::vector<std::int64_t> trained;  ///< batches of `epoch` in the order of their updates
  double loss_sum = 0;  ///< of `epoch`, as the next two; stored beside the document, as it may be NaN
  std::int64_t correct = 0;
  std::int64_t seeds = 0;
  double seconds = 0;                ///< of `epoch`'s training so far
  std::optional<double> best_valid;  ///< accuracy of the best epoch
  /// Of the best epoch, by the job's metrics; absent where undefined. Empty in checkpoints of versions that
  /// knew accuracy only.
  std::vector<std::optional<double>> best_metrics;
  std::optional<double> best_valid_loss;  ///< none if it was not finite
  std::int64_t best_epoch = 0;            ///< counted from 0
  std::int64_t epochs_since_best = 0;
  std::vector<at::Tensor> best_weights;  ///< nn::Model::state(); empty before the first evaluation
  CarriedTensors carried;                ///< of all components; stored beside the document

  /// The validation metric by which the best epoch was judged.
  std::optional<double> best_judged() const {
    return best_metrics.empty() ? best_valid : best_metrics.front();
  }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("job", self.job);
    f.required("graph", self.graph);
    f.required("epoch", self.epoch, base::non_negative);
    f.required("trained", self.trained, base::non_negative);
    f.required("correct", self.correct);
    f.required("seeds", self.seeds);
    f.required("seconds", self.seconds);
    f("best_valid", self.best_valid);
    f("best_metrics", self.best_metrics);
    f("best_valid_loss", self.best_valid_loss);
    f.required("best_epoch", self.best_epoch);
    f.required("epochs_since_best", self.epochs_since_best);
  }
};

/// Writes the run's state atomically. Throws base::Failure; the previous checkpoint then stays intact.
void write_checkpoint(const std::filesystem::path& path, const RunState& state, const nn::Learner& learner);

/// The checkpoint in a run's directory.
inline std::filesystem::path checkpoint_path(const std::filesystem::path& run_directory) {
  return run_directory / "checkpoint.pt";
}

/// Reads a checkpoint into `state` and `learner`. Throws base::InputError if the file cannot be read, or
/// belongs to another graph or job than `state`, which names the field that differs and both values; jobs
/// that differ only in epochs and patience count as one, unless the learning rate depends on the number of
/// epochs.
void read_checkpoint(const std::filesystem::path& path, RunState& state, nn::Learner& learner);

/// Throws what read_checkpoint would throw because of `expected`'s job and graph, and InputError if the run
/// has trained more epochs than the job has; changes nothing.
void check_checkpoint(const std::filesystem::path& path, const RunState& expected);

/// Reads a run's state without the learner's, for its evaluation. Throws base::InputError if the file cannot
/// be read, or the run has not finished an epoch.
RunState read_run(const std::filesystem::path& path);

}  // namespace gnomon::runtime
