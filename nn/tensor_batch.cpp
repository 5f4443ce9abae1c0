#include "nn/tensor_batch.h"

#include <ATen/ATen.h>

#include "nn/feature_types.h"

namespace gnomon::nn {

TensorBatch on_device(const TensorBatch& batch, at::Device device) {
  TensorBatch moved{{}, batch.labels.to(device), {}, {}};
  if (batch.degrees.defined()) {
    moved.degrees = batch.degrees.to(device);
  }
  if (batch.features.defined()) {
    moved.features = batch.features.to(device);
  }
  if (batch.sparse.defined()) {
    moved.sparse = on_device(batch.sparse, device);
  }
  for (const auto& block : batch.blocks) {
    moved.blocks.push_back(on_device(*block, device));
  }
  return moved;
}

SparseBlockPtr on_device(const SparseBlock& block, at::Device device) {
  return std::make_shared<const SparseBlock>(
      block.num_sources(), block.indptr().to(device), block.indices().to(device), sparse_kernels(device),
      block.destinations().defined() ? block.destinations().to(device) : at::Tensor(), block.max_in_degree());
}

at::Tensor feature_tensor(const std::byte* bytes, graph::FeatureType type, std::int64_t rows,
                          std::int64_t columns) {
  auto* data = const_cast<std::byte*>(bytes);  // nothing writes to it
  return at::from_blob(data, {rows, columns}, scalar_type(type));
}

}  // namespace gnomon::nn
