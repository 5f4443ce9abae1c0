#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/staleness.h"

namespace gnomon::runtime {

/// Historical embeddings of all vertices on every hidden layer, in host memory (GNNAutoScale, Fey et al.,
/// ICML 2021), of which a mini-batch pulls those that it does not compute and pushes those that it does. With
/// all vertices as seeds, a mini-batch pulls the rows of its halo, the neighbours of its seeds that are no
/// seeds themselves, as the mini-batch before it left them, and pushes those of its seeds. Updates of the
/// weights are counted, so that the age of what is pulled is known. Not thread-safe.
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
  /// push() in two parts, for layers of different vertices: replaces the rows of one hidden layer, and
  /// records when the vertices were pushed.
  void push_layer(std::size_t layer, const at::Tensor& vertices, const at::Tensor& rows);
  void note_pushed(const at::Tensor& vertices);
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

/// Whether the plan's mini-batches use embeddings that earlier ones have stored: of all vertices, or of
/// halos.
bool keeps_history(const plan::Plan& plan);

/// The graph of a training with historical embeddings of all vertices: mini-batches have all vertices as
/// seeds, shuffled in each epoch as training vertices are, so that every vertex's embeddings are renewed once
/// an epoch. Vertices that are not to be trained have the label -1.
graph::Graph with_all_as_seeds(const graph::Graph& graph);

/// The job whose mini-batches are the seeds and at most the first fanout of neighbours of each.
plan::Job with_one_hop(plan::Job job);

}  // namespace gnomon::runtime
