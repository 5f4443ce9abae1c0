#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

namespace gnomon::nn {

/// Returns the elements of a contiguous fp32 CPU tensor; an empty span if it is undefined.
inline std::span<const float> values_of(const at::Tensor& tensor) {
  return tensor.defined()
             ? std::span(tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel()))
             : std::span<const float>();
}
inline std::span<float> values_of(at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace gnomon::nn
