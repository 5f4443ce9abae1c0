#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/graphs/step_graphs.h"
#include "nn/matmul_precision.h"
#include "nn/models.h"
#include "nn/step_sums.h"
#include "nn/step_targets.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"

namespace torch::optim {
class Adam;
}
namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace gnomon::nn {

/// A model and its optimiser. While it exists, matrix products have the job's precision. The weights after a
/// sequence of steps are a pure function of the job, the batches in their order, and the kind of device (CPU
/// and GPU round differently); they depend neither on the number of threads nor on ATen's global generator.
class Learner {
 public:
  /// `label_sets`, on the device, are those of a multi-label graph (nn/step_targets.h).
  Learner(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device = at::kCPU,
          at::Tensor label_sets = {});
  ~Learner();

  /// Trains one mini-batch on the learner's device: forward pass, cross-entropy (mean over the seeds) or,
  /// with label sets, binary cross-entropy (mean over seeds and classes), backward pass, one step of Adam
  /// with the epoch's learning rate. Uses the caller's number of ATen threads. On a GPU everything runs on
  /// the current stream, and the host synchronises once, to read the result.
  StepResult step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch);
  /// step() that adds the result to `sums`. On a GPU the host does not synchronise. With graphs, padding
  /// changes the rounding of products; a mini-batch beyond the learned capacity (LearnedRoom) falls back to
  /// an unrecorded step.
  void step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch, StepSums& sums);
  /// Sets whether steps on a GPU replay recorded launches where possible (nn/graphs/step_graphs.h); off by
  /// default. Precondition: the model has no batch normalisation, which padding would change.
  void use_graphs(bool uses);
  /// Frees the memory of the recorded step, which the next step with graphs records again.
  void forget_graphs() { graphs_.forget(); }

  /// step() of a mini-batch with historical embeddings (nn/history.h), whose seeds have the label -1 unless
  /// they are training vertices: the loss is the mean over those. Without any there is no update, and the
  /// result has no seeds.
  StepResult step(const TensorBatch& data, HistoricalRows& rows, std::int64_t epoch, std::int64_t batch);

  /// step() of a mini-batch with historical embeddings of the vertices of its halo.
  StepResult step(const TensorBatch& data, HaloRows& rows, std::int64_t epoch, std::int64_t batch);

  /// step() in two halves: backward() leaves the gradients in the model's parameters, update() makes the step
  /// of Adam by them. Between the two average_gradients() may average those of several learners.
  StepResult backward(const TensorBatch& data, std::int64_t epoch, std::int64_t batch);
  void update(std::int64_t epoch);

  const Model& model() const { return model_; }
  /// Bytes of the weights, and of the gradients.
  std::int64_t weight_bytes() const;
  std::int64_t label_set_bytes() const;
  /// Saves and loads the weights, running statistics, the optimiser's state and, if it was used, the room of
  /// graphs, in a format independent of the device. load throws c10::Error if the archive does not match the
  /// model.
  void save(torch::serialize::OutputArchive& archive) const;
  void load(torch::serialize::InputArchive& archive);

 private:
  DropoutSpec dropout_of(std::int64_t epoch, std::int64_t batch) const;
  StepTargets targets_of(const at::Tensor& labels) const { return {labels, label_sets_}; }
  StepMetrics backward_from(const at::Tensor& logits, const at::Tensor& labels);
  template <class LossGradient>
  void both_passes(const TensorBatch& data, const DropoutSpec& dropout, const LossGradient& loss_gradient);
  bool step_by_graph(const TensorBatch& data, std::int64_t epoch, std::int64_t batch, StepSums& sums);

  plan::Job job_;
  MatmulPrecisionGuard precision_;
  at::Tensor label_sets_;
  Model model_;
  std::unique_ptr<torch::optim::Adam> optimiser_;
  at::Tensor adam_step_;  ///< scratch space of fused_step()
  bool uses_graphs_ = false;
  StepGraphs graphs_;  ///< after what its recording reads
};

/// Sets the gradients of the first learner to the mean of those of all, added up in their order, as
/// data-parallel training does. Precondition: all learners are of the same job and have gradients.
void average_gradients(std::span<Learner* const> learners);

/// Makes `to` share the gradients of `from`, a learner of the same job, and copies the running statistics.
void copy_gradients(const Learner& from, Learner& to);

/// Copies the weights and the running statistics of a learner to another one of the same job.
void copy_model(const Learner& from, Learner& to);

/// Returns a hash of the bytes of all tensors as 16 hexadecimal digits.
std::string hash_of(const std::vector<at::Tensor>& tensors);

}  // namespace gnomon::nn
