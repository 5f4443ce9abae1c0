#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>

namespace gnomon::nn {

/// Standard normal values.
inline at::Tensor random_tensor(at::IntArrayRef sizes, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(sizes, generator);
}

/// The norm of the difference over that of what is expected, in double precision.
inline double relative_error(const at::Tensor& found, const at::Tensor& expected) {
  const auto exact = expected.detach().to(at::kDouble);
  return ((found.detach().to(at::kDouble) - exact).norm() / exact.norm()).item<double>();
}

}  // namespace gnomon::nn
