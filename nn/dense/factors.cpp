#include "nn/dense/factors.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <algorithm>

#include "kernels/cpu/bf16.h"
#include "nn/dense/pieces.h"

/// MKL's, of a LibTorch that has it: c = alpha · op(a) · op(b) + beta · c, of bf16 factors and fp32 sums.
extern "C" void cblas_gemm_bf16bf16f32(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                                       float alpha, const void* a, int lda, const void* b, int ldb,
                                       float beta, float* c, int ldc) __attribute__((weak));

namespace gnomon::nn {
namespace {

/// Columns in and out of a layer, below which its products are over about as soon as their factors are
/// rounded.
constexpr std::int64_t least_reuse = 64;
constexpr std::int64_t elements_a_piece = 1 << 15;

bool multiplies_bf16() {
#if defined(__x86_64__)
  return cblas_gemm_bf16bf16f32 != nullptr && __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

/// A matrix as BLAS takes it: rows one behind the other, or columns.
struct Layout {
  explicit Layout(const at::Tensor& x)
      : is_transposed(x.stride(1) != 1),
        leading(static_cast<int>(std::max<std::int64_t>(1, x.stride(is_transposed ? 1 : 0)))) {}
  int order() const { return is_transposed ? 112 : 111; }  // CblasTrans, CblasNoTrans
  bool is_transposed;
  int leading;
};

void multiply_bf16(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, float beta) {
  constexpr int row_major = 101;  // CblasRowMajor
  const Layout left(a);
  const Layout right(b);
  cblas_gemm_bf16bf16f32(row_major, left.order(), right.order(), static_cast<int>(a.size(0)),
                         static_cast<int>(b.size(1)), static_cast<int>(a.size(1)), 1, a.const_data_ptr(),
                         left.leading, b.const_data_ptr(), right.leading, beta, out.mutable_data_ptr<float>(),
                         static_cast<int>(out.size(1)));
}

bool is_bf16(const at::Tensor& x) { return x.scalar_type() == at::kBFloat16; }

}  // namespace

Factors::Factors(at::Device device, std::int64_t in, std::int64_t out)
    : are_rounded_(device.is_cpu() && in >= least_reuse && out >= least_reuse &&
                   at::globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM &&
                   multiplies_bf16()) {}

at::Tensor Factors::of(const at::Tensor& matrix) const {
  if (!are_rounded_) {
    return matrix;
  }
  auto rounded = at::empty(matrix.sizes(), matrix.options().dtype(at::kBFloat16));
  const auto* from = matrix.const_data_ptr<float>();
  auto* to = static_cast<std::uint16_t*>(rounded.mutable_data_ptr());
  for_each_piece(matrix.numel(), elements_a_piece, [&](std::int64_t begin, std::int64_t length) {
    kernels::cpu::round_to_bf16(from + begin, length, to + begin);
  });
  return rounded;
}

void multiply(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_bf16(a)) {
    multiply_bf16(out, a, b, 0);
  } else {
    at::mm_out(out, a, b);
  }
}

void multiply_and_add(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& row) {
  if (is_bf16(a)) {
    out.copy_(row.expand_as(out));
    multiply_bf16(out, a, b, 1);
  } else {
    at::addmm_out(out, row, a, b);
  }
}

void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_bf16(a)) {
    multiply_bf16(out, a, b, 1);
  } else {
    out.addmm_(a, b);
  }
}

}  // namespace gnomon::nn
