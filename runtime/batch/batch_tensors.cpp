#include "runtime/batch/batch_tensors.h"

#include <ATen/ATen.h>

#include <memory>

#include "nn/feature_types.h"

namespace gnomon::runtime {
namespace {

/// A tensor on the memory of `values`. from_blob takes a non-const pointer; nothing writes to it.
template <class T>
at::Tensor tensor_on(const std::vector<T>& values) {
  return at::from_blob(const_cast<T*>(values.data()), {std::ssize(values)},
                       c10::CppTypeToScalarType<T>::value);
}

/// The batch's sparse features.
nn::SparseFeatures sparse_features(const BatchData& data) {
  const std::int64_t entries = data.feature_indptr.back();
  const auto on = [&](const AlignedBytes& bytes, at::ScalarType type) {
    return at::from_blob(const_cast<std::byte*>(bytes.data()), {entries}, type);
  };
  const auto type = nn::scalar_type(data.feature_type);
  const bool all_ones = data.features.size() == 0 && entries > 0;
  return {std::make_shared<const nn::SparseBlock>(data.columns, tensor_on(data.feature_indptr),
                                                  on(data.feature_columns, at::kInt)),
          all_ones ? at::Tensor() : on(data.features, type)};
}

}  // namespace

nn::TensorBatch view_of(const BatchData& data) {
  nn::TensorBatch view{{}, tensor_on(data.labels), tensor_on(data.degrees), {}};
  if (!data.feature_indptr.empty()) {
    view.sparse = sparse_features(data);
  } else if (data.features.size() > 0 && !data.split.is_used()) {
    view.features = nn::feature_tensor(data.features.data(), data.feature_type,
                                       std::ssize(data.batch.vertices), data.columns);
  }
  for (const auto& block : data.batch.blocks) {
    view.blocks.push_back(nn::view_of(block));
  }
  return view;
}

at::Tensor ids_of(const BatchData& data) { return tensor_on(data.batch.vertices); }

}  // namespace gnomon::runtime
