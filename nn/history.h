#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace gnomon::nn {

/// What the training of a mini-batch reads and writes of historical embeddings, the outputs of hidden layers
/// (GNNAutoScale, Fey et al., ICML 2021, section 3). All tensors are fp32, on the model's device.
struct HistoricalRows {
  /// For each hidden layer, the stored embeddings (sources - destinations, hidden) of the sources of the
  /// batch's block that are no seeds, in their order. Read.
  std::vector<at::Tensor> halo;
  /// For each hidden layer, the embeddings (seeds, hidden) that were computed, after norm, activation and
  /// skip connection and before dropout. Written.
  std::vector<at::Tensor> seeds{};
};

}  // namespace gnomon::nn
