#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/history.h"
#include "nn/layers/layer.h"
#include "nn/layers/norm_layer.h"
#include "nn/reused_rows.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"

namespace gnomon::nn {

/// Whether models of this kind read the degrees of a mini-batch's vertices.
constexpr bool reads_degrees(plan::ModelKind kind) { return kind == plan::ModelKind::gcn; }

/// GCN (Kipf and Welling, ICLR 2017), GraphSAGE with the mean aggregator (Hamilton, Ying and Leskovec,
/// NeurIPS 2017) or GAT (Veličković et al., ICLR 2018), one layer for each of the job's fanouts.
///
/// Hidden layers compute h' = act(norm(layer(h))) + S h, the last one layer(h) + S h, where the job says
/// whether there are a norm and a skip connection S h, of the destinations' rows of h. In training, dropout
/// is applied to the inputs of each layer.
///
/// Initial weights depend on job.seed only (Glorot uniform; biases 0, gains 1), not on the device. On sampled
/// neighbours, GCN scales the sum by degree / number of drawn neighbours, which makes it an unbiased estimate
/// of the sum over all neighbours. With all neighbours, every layer is the full-graph layer.
class Model {
 public:
  Model(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device = at::kCPU);

  /// Returns a model on `device` with copies of the weights and running statistics.
  Model copied_to(at::Device device) const;

  /// Returns the logits (seeds, classes) of a mini-batch on the model's device. `dropout` (its key's level is
  /// ignored) means training: it applies dropout, and batch normalisation uses the mini-batch's statistics
  /// and moves the running ones. If `data` has no gathered features, the first layer reads them in
  /// the feature store, with the same bits. Sparse features give the same results up to rounding. Where the
  /// batch reuses rows of the first layer, their norm, activation and dropout are as those of all others.
  /// `data`'s memory must outlive the backward pass.
  at::Tensor forward(const TensorBatch& data, const std::optional<DropoutSpec>& dropout) const;

  /// The operands of the first layer for the destinations of the batch's only block, with dropout of its
  /// inputs if given. Reads no weights.
  std::vector<Operand> bottom_operands(const TensorBatch& batch,
                                       const std::optional<DropoutSpec>& dropout) const;

  /// Returns the logits (seeds, classes) of a mini-batch in training that all layers aggregate along its
  /// first block: their inputs are the seeds' outputs of the layer before and, for the other sources,
  /// `rows.halo`. `rows.halo` gets no gradients. Dropout applies to both, batch normalisation to the seeds.
  /// Otherwise as forward(data, dropout).
  at::Tensor forward(const TensorBatch& data, HistoricalRows& rows, const DropoutSpec& dropout) const;

  /// Returns the logits (seeds, classes) of a mini-batch in training whose hidden layers take the embeddings
  /// of the halo from `rows.stored`, which gets no gradients. Otherwise as forward(data, dropout).
  at::Tensor forward(const TensorBatch& data, HaloRows& rows, const DropoutSpec& dropout) const;

  /// The hop along which layer `index` aggregates in forward(data, dropout).
  Hop hop_of(const TensorBatch& data, std::size_t index) const;

  at::Device device() const { return device_; }
  std::size_t num_layers() const { return layers_.size(); }
  const Layer& layer(std::size_t index) const { return *layers_[index]; }
  /// Whether finish() reads a layer's inputs.
  bool has_skip() const { return job_.skip; }
  /// Whether layers take hops with all sources (Hop::has_all_sources) on the model's device: attention on
  /// other devices than the host reads sampled blocks only.
  bool takes_all_sources() const { return device_.is_cpu() || job_.model != plan::ModelKind::gat; }
  /// Whether the model is of a kind, without norms and skip connections.
  bool is_plain(plan::ModelKind kind) const {
    return job_.model == kind && job_.norm == plan::Norm::none && !job_.skip;
  }
  /// Whether layers read Hop::degrees.
  bool reads_degrees() const { return nn::reads_degrees(job_.model); }
  /// Completes layer `index` in evaluation: norm, activation and skip connection. `propagated` are the
  /// layer's outputs for some vertices, `inputs` its inputs for the same vertices (not read without skip
  /// connections).
  at::Tensor finish(std::size_t index, const at::Tensor& propagated, const at::Tensor& inputs) const;
  at::Tensor finish(std::size_t index, const at::Tensor& propagated, const SparseFeatures& inputs) const;

  /// Returns all weights, from the first layer to the last. They share the model's memory.
  std::vector<at::Tensor> parameters() const;
  /// Returns the running statistics of batch normalisation, which training changes without gradients.
  std::vector<at::Tensor> buffers() const;
  /// Returns parameters() and then buffers(): all that evaluation depends on.
  std::vector<at::Tensor> state() const;
  /// The names of state(), such as "layers.0.self.weight", "layers.0.norm.running_mean".
  std::vector<std::string> state_names() const;

 private:
  /// ReLU (ELU for GAT), or nothing for the last layer.
  at::Tensor activate(std::size_t index, const at::Tensor& x) const;
  /// Applies activate() and then the dropout of the next layer's inputs.
  at::Tensor activate_and_drop(std::size_t index, const at::Tensor& x, const DropoutSpec& of_next) const;
  /// Returns S h of layer `index`.
  at::Tensor skip(std::size_t index, const at::Tensor& inputs) const;
  at::Tensor skip(std::size_t index, const SparseFeatures& inputs) const;
  template <class Inputs>
  at::Tensor finish_layer(std::size_t index, const at::Tensor& propagated, const Inputs& inputs) const;
  /// How a layer's outputs are used: as the next layer's inputs, after its dropout, or kept without dropout.
  enum class Outputs { dropped, kept };
  /// Runs a layer on the inputs of its sources, which are gathered (at::Tensor), stored (DroppedFeatures) or
  /// sparse (SparseFeatures).
  template <class Inputs>
  at::Tensor run_layer(std::size_t index, const Inputs& inputs, const Hop& hop,
                       const std::optional<DropoutSpec>& dropout, Outputs outputs = Outputs::dropped) const;
  /// Norm, activation, skip connection and the dropout of the next layer's inputs.
  template <class Inputs>
  at::Tensor complete(std::size_t index, at::Tensor out, const Inputs& inputs, const Hop& hop,
                      const std::optional<DropoutSpec>& dropout, Outputs outputs) const;
  /// The layers of a GAT in training as fused operations; none if they cannot be.
  std::vector<FusedGat> fused_layers(const TensorBatch& data,
                                     const std::optional<DropoutSpec>& dropout) const;
  /// Calls act with the first layer's inputs.
  template <class Act>
  auto with_inputs(const TensorBatch& data, const std::optional<DropoutSpec>& dropout, const Act& act) const;
  at::Tensor first_layer(const TensorBatch& data, const Hop& hop, const std::optional<DropoutSpec>& dropout,
                         Outputs outputs = Outputs::dropped) const;
  at::Tensor first_layer_reusing(const TensorBatch& data, const Hop& hop,
                                 const std::optional<DropoutSpec>& dropout) const;

  plan::Job job_;
  std::int64_t columns_, classes_;
  at::Device device_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<NormLayer> norms_;   ///< of hidden layers
  std::vector<at::Tensor> skips_;  ///< S of each layer; undefined if it is the identity or there is none
};

/// Copies the values of `from` into `to`, tensor by tensor.
void copy_values(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to);

}  // namespace gnomon::nn
