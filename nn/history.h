#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace gnomon::nn {

/// Input and output of training a mini-batch of seeds and their neighbours with historical embeddings, the
/// outputs of hidden layers (GNNAutoScale, Fey et al., ICML 2021, section 3). All tensors are fp32, on
/// the model's device.
struct HistoricalRows {
  /// For each hidden layer, the stored embeddings (sources - destinations, hidden) of the sources of the
  /// batch's block that are no seeds, in their order. Read.
  std::vector<at::Tensor> halo;
  /// For each hidden layer, the embeddings (seeds, hidden) that were computed, after norm, activation and
  /// skip connection and before dropout. Written.
  std::vector<at::Tensor> seeds{};
};

/// Input and output of training a mini-batch of several hops that ends at a halo: vertices whose neighbours
/// are not sampled, and whose embeddings are historical ones (Joestar-II: Huang, PhD thesis, MIT, 2025,
/// chapter 5).
struct HaloRows {
  at::Tensor positions;  ///< int64: of the halo among the batch's vertices, ascending. Read.
  /// For each hidden layer, the stored embeddings (halo, hidden) of the halo vertices among the layer's
  /// destinations, in their order. Read.
  std::vector<at::Tensor> stored;
  /// For each hidden layer, the outputs (destinations, hidden) that were computed, after norm, activation and
  /// skip connection and before dropout; the rows of the halo are to be ignored. Written.
  std::vector<at::Tensor> computed{};
};

}  // namespace gnomon::nn
