#include "runtime/batch/batch_tensors.h"

#include <ATen/ATen.h>

namespace gnomon::runtime {
namespace {

/// A tensor on the memory of `values`. from_blob takes no const; nothing writes to it.
template <class T>
at::Tensor tensor_on(const std::vector<T>& values) {
  return at::from_blob(const_cast<T*>(values.data()), {std::ssize(values)},
                       c10::CppTypeToScalarType<T>::value);
}

}  // namespace

nn::TensorBatch view_of(const BatchData& data) {
  nn::TensorBatch view{{}, tensor_on(data.labels), tensor_on(data.degrees), {}};
  if (data.features.size() > 0) {
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
