#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "nn/models.h"

namespace gnomon::nn {

/// Both passes of a training step without autograd, which takes a GPU's host longer than launching the
/// kernels: the operations of Model::forward and of its gradients, in their order, so with the same bits. For
/// GCN, and for GraphSAGE whose layers are one product each (sage_product.h).
class DirectPass {
 public:
  /// Whether a mini-batch can be trained so.
  static bool can_run(const Model& model, const TensorBatch& batch);

  /// The forward pass. Precondition: can_run(). The model must outlive the object.
  DirectPass(const Model& model, const TensorBatch& batch, const DropoutSpec& dropout);

  const at::Tensor& logits() const { return steps_.back().output; }
  /// The backward pass: sets the gradients of the model's weights, given that of the logits.
  void compute_gradients(const at::Tensor& gradient) const;

 private:
  /// A layer's forward pass.
  struct Step {
    Hop hop;
    at::Tensor operand;  ///< of the layer's product
    at::Tensor output;   ///< of hidden layers with activation and dropout
  };

  const Model& model_;
  DropoutSpec dropout_;
  std::vector<Step> steps_;
};

}  // namespace gnomon::nn
