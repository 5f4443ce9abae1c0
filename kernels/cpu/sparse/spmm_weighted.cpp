#include <bit>

#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/spmm_weighted.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/sparse/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, const float* weights,
                   const float* x, float* y) {
  const std::int64_t stride = heads.count * heads.width;
  const std::int32_t* edges = a.edges.empty() ? nullptr : a.edges.data();
  const hn::ScalableTag<float> widest;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(widest));
  const auto vectors = static_cast<std::uint64_t>(heads.width / lanes);
  if (heads.count > 1 && heads.width % lanes == 0 && std::has_single_bit(vectors)) {
    const HeadFactors factors{{weights, heads.count, edges}, std::countr_zero(vectors)};
    sum_rows(widest, a, range, nullptr, RowsOfColumns{x, stride, a.columns.data()}, factors, stride, y,
             stride);
    return;
  }
  with_lanes_for(heads.width, [&](auto d) HWY_ATTR {
    for (std::int64_t h = 0; h < heads.count; ++h) {
      const RowsOfColumns rows{x + h * heads.width, stride, a.columns.data()};
      sum_rows(d, a, range, nullptr, rows, EdgeFactors{weights + h, heads.count, edges}, heads.width,
               y + h * heads.width, stride);
    }
  });
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(spmm_weighted);
}  // namespace

void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> weights,
                   std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm_weighted)(a, range, heads, weights.data(), x.data(), y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
