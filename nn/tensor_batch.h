#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "nn/reused_rows.h"
#include "nn/sparse/sparse_block.h"
#include "nn/sparse/sparse_features.h"
#include "nn/sparse/stored_features.h"

namespace gnomon::nn {

/// A mini-batch as tensors on one device, the input of Model::forward.
struct TensorBatch {
  at::Tensor features;  ///< (vertices, columns), in the graph's type; undefined if sparse or not gathered
  at::Tensor labels;    ///< int64, of the seeds
  at::Tensor degrees;  ///< fp32, the in-degree of each vertex in the whole graph; may be undefined for models
                       ///< that do not read it (reads_degrees())
  std::vector<SparseBlockPtr> blocks;  ///< from the seeds outwards
  StoredFeaturesPtr stored = nullptr;  ///< the features in the feature store, if they were not gathered
  SparseFeatures sparse{};             ///< the features of the vertices, if they are sparse
  /// Rows of the first layer that are not computed; null if all are. The batch's vertices are then the
  /// sources of the last block.
  std::shared_ptr<const ReusedBottom> reused = nullptr;
};

/// Returns the batch on `device`; tensors that are already there are shared. Copies from pageable memory are
/// synchronous.
TensorBatch on_device(const TensorBatch& batch, at::Device device);
SparseBlockPtr on_device(const SparseBlock& block, at::Device device);

/// Returns a tensor (rows, columns) on feature rows in memory, which must outlive it.
at::Tensor feature_tensor(const std::byte* bytes, graph::FeatureType type, std::int64_t rows,
                          std::int64_t columns);

}  // namespace gnomon::nn
