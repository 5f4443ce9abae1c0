#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// Single-threaded GEMM with fp32 operands, or with bf16 operands on the CPU. Accumulation and results are
/// fp32. None of the functions is differentiable.
namespace gnomon::nn {

/// Converts the GEMM operands of one layer: they stay fp32, or are rounded to bf16. The latter requires a CPU
/// with bf16 instructions, ATen's fp32 matmul precision "medium", and a layer wide enough for the rounding to
/// pay off.
class GemmOperands {
 public:
  /// For a layer with weights (in, out).
  GemmOperands(at::Device device, std::int64_t in, std::int64_t out);
  /// For the layer with these weights.
  explicit GemmOperands(const at::Tensor& weight)
      : GemmOperands(weight.device(), weight.size(0), weight.size(1)) {}

  /// Returns a contiguous fp32 matrix as a GEMM operand: itself, or a rounded copy, made with ATen's number
  /// of threads.
  at::Tensor of(const at::Tensor& matrix) const;

 private:
  bool are_rounded_;
};

/// out = a · b. `a` and `b` are both fp32 or both bf16, each contiguous or the transpose of a contiguous
/// matrix; `out` is contiguous fp32.
void gemm(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
/// out = a · b + row, where the fp32 vector `row` is added to every row.
void gemm_plus_row(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& row);
/// out += a · b.
void gemm_accumulate(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace gnomon::nn
