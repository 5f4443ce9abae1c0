#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/staleness.h"

namespace gnomon::runtime {

/// Historical embeddings of all vertices on every hidden layer, in host memory (GNNAutoScale, Fey et al.,
/// ICML 2021). A mini-batch pulls the rows of its halo (neighbours of seeds that are not seeds themselves) as
/// left by the previous mini-batch, and pushes those of its seeds. Weight updates are counted to determine
/// the age of pulled rows. Not thread-safe.
class History {
 public:
  /// Starts from the outputs (vertices, hidden) of the hidden layers with the initial weights, fp32 on the
  /// CPU. There may be no hidden layers.
  History(std::vector<at::Tensor> hidden, std::int64_t vertices);
  /// Restores a state returned by carried(). Precondition: is_in(carried).
  explicit History(const CarriedTensors& carried);

  /// Whether these tensors include the state of a History.
  static bool is_in(const CarriedTensors& carried);
  /// Its complete state; the tensors share its memory.
  CarriedTensors carried() const;

  std::size_t num_layers() const { return hidden_.size(); }
  /// Copies the rows of `vertices` (int64) of a hidden layer.
  at::Tensor pull(std::size_t layer, const at::Tensor& vertices) const;
  /// Records the age of the rows of a mini-batch's halo.
  void note_pulled(const at::Tensor& vertices);
  /// Replaces the rows of `vertices` (int64), by layer. They were computed with the weights before the update
  /// of their mini-batch.
  void push(const at::Tensor& vertices, const std::vector<at::Tensor>& rows);
  /// Counts an update of the weights.
  void note_update() { ++updates_; }

  /// Staleness of the rows pulled since begin_epoch().
  const Staleness& staleness() const { return staleness_; }
  void begin_epoch() { staleness_ = {}; }

 private:
  std::vector<at::Tensor> hidden_;
  /// By vertex: the update count (int64) of the weights that its rows were computed with.
  at::Tensor pushed_at_;
  std::int64_t updates_ = 0;  ///< of the weights so far
  Staleness staleness_;
};

/// The graph for training with historical embeddings: all vertices are seeds, shuffled in each epoch like
/// training vertices, so that every vertex's embeddings are renewed once per epoch. Vertices outside the
/// training set have the label -1.
graph::Graph with_all_as_seeds(const graph::Graph& graph);

/// The job whose mini-batches are the seeds and at most the first fanout of neighbours of each.
plan::Job with_one_hop(plan::Job job);

}  // namespace gnomon::runtime
