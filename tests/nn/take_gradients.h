#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "nn/models.h"

namespace gnomon::test {

/// Copies of the gradients of a model's weights, on the CPU; the model then has none.
inline std::vector<at::Tensor> take_gradients(const nn::Model& model) {
  std::vector<at::Tensor> gradients;
  for (const auto& weight : model.parameters()) {
    gradients.push_back(weight.grad().cpu().clone());
    weight.mutable_grad().reset();
  }
  return gradients;
}

}  // namespace gnomon::test
