#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace gnomon::nn {

/// Initialises weights on a device. Each has its own random stream of the job's seed.
class Initialiser {
 public:
  Initialiser(std::uint64_t seed, at::Device device) : seed_(seed), device_(device) {}

  /// Returns a weight uniform in ±√(6 / (fan_in + fan_out)) (Glorot and Bengio, AISTATS 2010, equation 16).
  at::Tensor glorot(at::IntArrayRef sizes, std::int64_t fan_in, std::int64_t fan_out);
  at::Tensor matrix(std::int64_t in, std::int64_t out) { return glorot({in, out}, in, out); }
  /// Returns two matrices. On a device with memory of its own they are adjacent, so that they also form one
  /// matrix of 2 · in rows (nn/dense/sage_product.h).
  std::vector<at::Tensor> matrix_pair(std::int64_t in, std::int64_t out);
  at::Tensor zeros(std::int64_t count) { return filled(count, 0).requires_grad_(); }
  /// Returns a vector without gradient.
  at::Tensor filled(std::int64_t count, double value);

 private:
  std::uint64_t seed_;
  at::Device device_;
  std::uint64_t next_ = 0;
};

}  // namespace gnomon::nn
