#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// Products of matrices on one thread, by the type of their factors: fp32, or bf16 on the CPU. Results and
/// sums are of fp32 in any case. None of them is differentiable.
namespace gnomon::nn {

/// How the products of one layer read their factors: as they are, or rounded to bf16 on the CPU where ATen's
/// precision of products is "medium", the processor has instructions for it, and each number serves so many
/// products that rounding it pays.
class Factors {
 public:
  /// Of a layer with weights of in x out.
  Factors(at::Device device, std::int64_t in, std::int64_t out);
  /// Of the layer with these.
  explicit Factors(const at::Tensor& weight) : Factors(weight.device(), weight.size(0), weight.size(1)) {}

  /// A contiguous fp32 matrix as products take it: itself, or a copy made by ATen's number of threads.
  at::Tensor of(const at::Tensor& matrix) const;

 private:
  bool are_rounded_;
};

/// out = a · b, both fp32 or both bf16, contiguous or the transpose of what is; `out` is fp32, contiguous.
void multiply(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
/// out = a · b + row in each row; `row` is fp32.
void multiply_and_add(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& row);
/// out += a · b.
void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace gnomon::nn
