#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/spmm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/sparse/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

void spmm(const SparseRows& a, RowRange range, const Scales& scales, const float* x, std::int64_t width,
          float* y) {
  const float* row_scales = scales.rows.empty() ? nullptr : scales.rows.data();
  const RowsOfColumns rows{x, width, a.columns.data()};
  with_lanes_for(width, [&](auto d) HWY_ATTR {
    if (scales.columns.empty()) {
      sum_rows(d, a, range, row_scales, rows, NoFactors(), width, y, width);
    } else {
      sum_rows(d, a, range, row_scales, rows, ColumnFactors{scales.columns.data(), a.columns.data()}, width,
               y, width);
    }
  });
}

void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, const float* values, float* y) {
  const RowsOfEdges rows{values, heads, a.edges.empty() ? nullptr : a.edges.data()};
  with_lanes_for(
      heads, [&](auto d) HWY_ATTR { sum_rows(d, a, range, nullptr, rows, NoFactors(), heads, y, heads); });
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(spmm);
HWY_EXPORT(sum_edges);
}  // namespace

void spmm(const SparseRows& a, RowRange range, const Scales& scales, std::span<const float> x,
          std::int64_t width, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm)(a, range, scales, x.data(), width, y.data());
}

void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> values,
               std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(sum_edges)(a, range, heads, values.data(), y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
