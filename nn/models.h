#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"

namespace gnomon::nn {

/// One hop of a mini-batch, as a layer reads it.
struct Hop {
  SparseBlockPtr block;
  at::Tensor degrees;  ///< fp32: true in-degree of each of the block's sources
};

/// Where a layer's dropout comes from: a pure function of these, whoever prepared the batch.
struct Dropping {
  double probability = 0;
  base::StreamKey key;  ///< seed, epoch, batch; the level is the layer's, two for each

  Dropping of_layer(std::size_t index) const;
  base::StreamKey inputs() const;
  base::StreamKey attention() const;
};

/// One layer: a dense part, vertex by vertex, and a part along the edges of a hop. No activation.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// The dense part of vertices' inputs (n, in): (n, any).
  virtual at::Tensor project(const at::Tensor& x) const = 0;
  /// The outputs (destinations, out) from the projected sources. `dropping`, in training, is for what the
  /// layer drops itself (attention).
  virtual at::Tensor propagate(const at::Tensor& projected, const Hop& hop,
                               const Dropping* dropping) const = 0;
  /// propagate(project(x)), by the order of the two that computes less.
  virtual at::Tensor forward(const at::Tensor& x, const Hop& hop, const Dropping* dropping) const = 0;
  /// The same of inputs that are read where they are stored, in the same order of the two.
  virtual at::Tensor forward(const DroppedRows& x, const Hop& hop, const Dropping* dropping) const = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  std::vector<at::Tensor> parameters_;
};

/// GCN (Kipf and Welling, ICLR 2017), GraphSAGE with the mean aggregator (Hamilton, Ying and Leskovec,
/// NeurIPS 2017) or GAT (Veličković et al., ICLR 2018), one layer for each of the job's fanouts.
///
/// Weights come from job.seed alone (Glorot's uniform; biases 0), whatever the device. On sampled neighbours
/// GCN scales the drawn ones by degree / drawn, so that the expected sum is the whole one; with all
/// neighbours every layer is the full-graph layer.
class Model {
 public:
  Model(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device = at::kCPU);

  /// Logits (seeds, classes) of a mini-batch on the model's device. With `dropping` (its key's level aside)
  /// as in training. Without features the first layer reads those stored, and all bits are the same.
  /// `data`'s memory must outlive the backward pass.
  at::Tensor forward(const TensorBatch& data, const std::optional<Dropping>& dropping) const;

  at::Device device() const { return device_; }
  std::size_t num_layers() const { return layers_.size(); }
  const Layer& layer(std::size_t index) const { return *layers_[index]; }
  /// What follows layer `index`: ReLU (ELU for GAT), nothing after the last.
  at::Tensor activate(std::size_t index, const at::Tensor& x) const;

  /// All weights, from the first layer to the last; they share the model's memory.
  std::vector<at::Tensor> parameters() const;

 private:
  /// activate(), and the dropout of the next layer's inputs.
  at::Tensor activate_and_drop(std::size_t index, const at::Tensor& x, const Dropping& of_next) const;
  at::Tensor first_layer(const TensorBatch& data, const Hop& hop, const Dropping* dropping) const;

  plan::ModelKind kind_;
  at::Device device_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

/// Copies the values of `from` into `to`, tensor by tensor.
void copy_values(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to);

}  // namespace gnomon::nn
