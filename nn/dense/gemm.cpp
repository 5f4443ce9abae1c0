#include "nn/dense/gemm.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/bf16.h"
#include "nn/dense/chunks.h"

/// MKL's GEMM with bf16 operands and fp32 accumulation, c = alpha · op(a) · op(b) + beta · c. Null if
/// LibTorch was built without MKL.
extern "C" void cblas_gemm_bf16bf16f32(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                                       float alpha, const void* a, int lda, const void* b, int ldb,
                                       float beta, float* c, int ldc) __attribute__((weak));

/// MKL calls this internal function to check for an Intel processor, and does not use AVX-512 and FMA on any
/// other. The replacement makes MKL choose by the available instruction sets. A LibTorch without MKL ignores
/// it.
extern "C" __attribute__((visibility("default"))) int mkl_serv_intel_cpu_true() { return 1; }

namespace gnomon::nn {
namespace {

/// Asks MKL for results that depend on the values of the operands alone. Without AVX-512 they otherwise
/// differ in the last bits between repetitions, even on one thread. MKL reads the variable on first use. A
/// value set by the user is kept.
[[maybe_unused]] const bool products_are_reproducible = [] {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0 || setenv("MKL_CBWR", "AUTO,STRICT", 0) == 0;
#else
  return true;
#endif
}();

/// Minimum input and output width of a layer for bf16 operands: in narrower ones, rounding takes as long as
/// it saves.
constexpr std::int64_t min_layer_width = 64;

bool has_bf16_gemm() {
#if defined(__x86_64__)
  return cblas_gemm_bf16bf16f32 != nullptr && __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

/// The storage order and leading dimension of a matrix, as arguments of BLAS.
struct Layout {
  explicit Layout(const at::Tensor& x)
      : is_transposed(x.stride(1) != 1),
        leading(static_cast<int>(std::max<std::int64_t>(1, x.stride(is_transposed ? 1 : 0)))) {}
  int order() const { return is_transposed ? 112 : 111; }  // CblasTrans, CblasNoTrans
  bool is_transposed;
  int leading;
};

void gemm_bf16(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, float beta) {
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

GemmOperands::GemmOperands(at::Device device, std::int64_t in, std::int64_t out)
    : are_rounded_(device.is_cpu() && in >= min_layer_width && out >= min_layer_width &&
                   at::globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM &&
                   has_bf16_gemm()) {}

at::Tensor GemmOperands::of(const at::Tensor& matrix) const {
  if (!are_rounded_) {
    return matrix;
  }
  auto rounded = at::empty(matrix.sizes(), matrix.options().dtype(at::kBFloat16));
  const auto* from = matrix.const_data_ptr<float>();
  auto* to = static_cast<std::uint16_t*>(rounded.mutable_data_ptr());
  for_each_chunk(matrix.numel(), elements_per_chunk, [&](std::int64_t begin, std::int64_t length) {
    kernels::cpu::round_to_bf16(from + begin, length, to + begin);
  });
  return rounded;
}

void gemm(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_bf16(a)) {
    gemm_bf16(out, a, b, 0);
  } else {
    at::mm_out(out, a, b);
  }
}

void gemm_plus_row(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& row) {
  if (is_bf16(a)) {
    out.copy_(row.expand_as(out));
    gemm_bf16(out, a, b, 1);
  } else {
    at::addmm_out(out, row, a, b);
  }
}

void gemm_accumulate(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_bf16(a)) {
    gemm_bf16(out, a, b, 1);
  } else {
    out.addmm_(a, b);
  }
}

}  // namespace gnomon::nn
