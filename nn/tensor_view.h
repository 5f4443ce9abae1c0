#pragma once

#include <ATen/Functions.h>

#include <memory>
#include <vector>

namespace gnomon::nn {

/// Returns a read-only tensor on the memory of `values`, which `owner` keeps alive.
template <class T>
at::Tensor tensor_view(const std::vector<T>& values, const std::shared_ptr<const void>& owner) {
  auto* data = const_cast<T*>(values.data());  // from_blob takes no const
  const auto release = [owner](void*) {};
  return at::from_blob(data, {std::ssize(values)}, release, c10::CppTypeToScalarType<T>::value);
}

}  // namespace gnomon::nn
