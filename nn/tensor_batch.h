#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "nn/sparse/sparse_block.h"
#include "nn/sparse/stored_rows.h"

namespace gnomon::nn {

/// A mini-batch as the model reads it, all on one device.
struct TensorBatch {
  at::Tensor features;                 ///< a row for each vertex, in the graph's own type;
                                       ///< not defined where they are still missing or stored
  at::Tensor labels;                   ///< int64, of the seeds
  at::Tensor degrees;                  ///< fp32, true in-degree of each vertex
  std::vector<SparseBlockPtr> blocks;  ///< from the seeds outwards
  StoredRowsPtr stored = nullptr;      ///< in place of features that nobody has gathered
};

/// The batch on `device`; tensors that are there already are shared. Copies from the host's ordinary memory:
/// the host waits.
TensorBatch on_device(const TensorBatch& batch, at::Device device);
SparseBlockPtr on_device(const SparseBlock& block, at::Device device);

/// `rows` feature rows in their own type (rows, columns), on memory that must outlive the tensor.
at::Tensor feature_tensor(const std::byte* bytes, graph::FeatureType type, std::int64_t rows,
                          std::int64_t columns);

}  // namespace gnomon::nn
