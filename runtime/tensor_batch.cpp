#include "runtime/tensor_batch.h"

#include <torch/torch.h>

namespace gnomon::runtime {
namespace {

/// A tensor on the memory of `values`. from_blob takes no const; nothing writes to it.
template <class T>
at::Tensor tensor_on(const std::vector<T>& values) {
  return at::from_blob(const_cast<T*>(values.data()), {std::ssize(values)},
                       c10::CppTypeToScalarType<T>::value);
}

}  // namespace

TensorBatch view_of(const BatchData& data) {
  TensorBatch view{{}, tensor_on(data.labels), tensor_on(data.degrees), {}};
  if (data.features.size() > 0) {
    view.features = feature_tensor(data.features.data(), data.feature_type, std::ssize(data.batch.vertices),
                                   data.columns);
  }
  for (const auto& block : data.batch.blocks) {
    view.blocks.push_back(kernels::autograd::view_of(block));
  }
  return view;
}

at::Tensor ids_of(const BatchData& data) { return tensor_on(data.batch.vertices); }

TensorBatch on_device(const TensorBatch& batch, at::Device device) {
  TensorBatch moved{{}, batch.labels.to(device), batch.degrees.to(device), {}};
  if (batch.features.defined()) {
    moved.features = batch.features.to(device);
  }
  for (const auto& block : batch.blocks) {
    moved.blocks.push_back(on_device(*block, device));
  }
  return moved;
}

kernels::autograd::SparseBlockPtr on_device(const kernels::autograd::SparseBlock& block, at::Device device) {
  return std::make_shared<const kernels::autograd::SparseBlock>(
      block.num_sources(), block.indptr().to(device), block.indices().to(device));
}

at::Tensor feature_tensor(const std::byte* bytes, graph::FeatureType type, std::int64_t rows,
                          std::int64_t columns) {
  auto* data = const_cast<std::byte*>(bytes);  // nothing writes to it
  return at::from_blob(data, {rows, columns}, type == graph::FeatureType::fp32 ? at::kFloat : at::kHalf);
}

}  // namespace gnomon::runtime
