#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/philox.h"
#include "kernels/dropout_rule.h"
#include "nn/dense/norms.h"
#include "nn/history.h"
#include "nn/reused_rows.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"

namespace gnomon::nn {

/// Whether models of this kind read the degrees of a mini-batch's vertices.
constexpr bool reads_degrees(plan::ModelKind kind) { return kind == plan::ModelKind::gcn; }

/// What a layer aggregates along: a hop of a mini-batch or, in evaluation, all in-edges of some vertices.
struct Hop {
  SparseBlockPtr block;
  at::Tensor degrees;            ///< fp32, the in-degree of each of the block's sources in the whole graph
  at::Tensor inverse_roots{};    ///< 1 / √(degree + 1) of each source; undefined if not computed beforehand
  bool has_all_sources = false;  ///< the sources are all vertices of the graph, in every hop
};

/// Returns 1 / √(degree + 1) for each degree.
at::Tensor inverse_roots_of(const at::Tensor& degrees);

/// The products of a layer's inputs with its weights, each of shape (vertices, any).
using Projection = std::vector<at::Tensor>;

/// The dropout of a layer in one training step. The dropped elements are a pure function of these fields.
struct DropoutSpec {
  double probability = 0;
  base::StreamKey key;  ///< seed, epoch and batch; the level is the layer's index
  /// If not null, where the device finds epoch and batch (kernels/dropout_rule.h).
  const kernels::StepNumber* number = nullptr;

  DropoutSpec of_layer(std::size_t index) const;
  /// The rules of the layer's inputs and of its attention coefficients, which have random streams of their
  /// own.
  kernels::DropoutRule inputs() const;
  kernels::DropoutRule attention() const;
};

/// A layer without its activation: a dense part, which handles every vertex on its own, and a sparse part,
/// which aggregates along the edges of a hop.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// The dense part: maps inputs (n, in).
  virtual Projection project(const at::Tensor& x) const = 0;
  virtual Projection project(const SparseFeatures& x) const = 0;
  /// The sparse part: maps the projected sources to outputs (destinations, out). `dropout` is set in
  /// training, for layers that apply dropout themselves (to attention coefficients).
  virtual at::Tensor propagate(const Projection& projected, const Hop& hop,
                               const DropoutSpec* dropout) const = 0;
  /// Whether forward() aggregates before it multiplies if a hop has all sources. Otherwise the products of
  /// all sources are better computed once for all hops.
  virtual bool aggregates_first() const = 0;
  /// Computes propagate(project(x)), with the two parts exchanged if that needs fewer operations.
  virtual at::Tensor forward(const at::Tensor& x, const Hop& hop, const DropoutSpec* dropout) const = 0;
  /// Computes the same from inputs that are read in the feature store, with the same bits.
  virtual at::Tensor forward(const DroppedFeatures& x, const Hop& hop, const DropoutSpec* dropout) const = 0;
  /// Computes propagate(project(x)) of sparse inputs with fp32 values, equal up to rounding.
  virtual at::Tensor forward(const SparseFeatures& x, const Hop& hop, const DropoutSpec* dropout) const = 0;

  /// The operands of the layer's products after aggregation, if it is Σ operand · weight + bias
  /// (reused_rows.h) and so can reuse rows; none if not. Not differentiable.
  virtual std::vector<Operand> operands(const at::Tensor&, const Hop&) const { return {}; }
  virtual std::vector<Operand> operands(const SparseFeatures&, const Hop&) const { return {}; }

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  /// The names of the parameters within the layer, such as "self.weight".
  const std::vector<std::string>& names() const { return names_; }

 protected:
  std::vector<at::Tensor> parameters_;
  std::vector<std::string> names_;
};

/// Normalisation of a hidden layer's outputs.
struct NormLayer {
  plan::Norm kind = plan::Norm::none;
  at::Tensor gain, bias;             ///< undefined for none
  dense::RunningStatistics running;  ///< of batch normalisation

  /// Batch normalisation uses the mini-batch's statistics in training, and moves the running ones; it uses
  /// the running ones otherwise.
  at::Tensor forward(const at::Tensor& x, bool training) const;
};

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

  at::Device device() const { return device_; }
  std::size_t num_layers() const { return layers_.size(); }
  const Layer& layer(std::size_t index) const { return *layers_[index]; }
  /// Whether finish() reads a layer's inputs.
  bool has_skip() const { return has_skip_; }
  /// Whether layers read Hop::degrees.
  bool reads_degrees() const { return nn::reads_degrees(kind_); }
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
  Hop hop_of(const TensorBatch& data, std::size_t index) const;
  /// Calls act with the first layer's inputs.
  template <class Act>
  auto with_inputs(const TensorBatch& data, const std::optional<DropoutSpec>& dropout, const Act& act) const;
  at::Tensor first_layer(const TensorBatch& data, const Hop& hop, const std::optional<DropoutSpec>& dropout,
                         Outputs outputs = Outputs::dropped) const;
  at::Tensor first_layer_reusing(const TensorBatch& data, const Hop& hop,
                                 const std::optional<DropoutSpec>& dropout) const;

  plan::ModelKind kind_;
  bool has_skip_;
  at::Device device_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<NormLayer> norms_;   ///< of hidden layers
  std::vector<at::Tensor> skips_;  ///< S of each layer; undefined if it is the identity or there is none
};

/// Copies the values of `from` into `to`, tensor by tensor.
void copy_values(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to);

}  // namespace gnomon::nn
