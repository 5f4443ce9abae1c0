#include <bit>
#include <type_traits>

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

/// Writes y[row,:] = row_scale · Σ of its entries' addends for the rows of the range. Rows of y are `stride`
/// apart.
template <class D, class Rows, class Factors>
void sum_rows(D d, const SparseRows& a, RowRange range, const float* row_scales, const Rows& rows,
              const Factors& factors, std::int64_t width, float* y, std::int64_t stride) {
  const std::int64_t* indptr = a.indptr.data();
  for (std::int64_t row = range.first; row < range.last; ++row) {
    const float scale = row_scales == nullptr ? 1.0F : row_scales[row];
    sum_row(d, rows, factors, {indptr[row], indptr[row + 1], a.num_entries()}, width, scale,
            y + row * stride);
  }
}

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

void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, const float* weights,
                   const float* x, float* y) {
  const std::int64_t stride = heads.count * heads.width;
  const std::int32_t* edges = a.edges.empty() ? nullptr : a.edges.data();
  const hn::ScalableTag<float> widest;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(widest));
  const auto vectors = static_cast<std::uint64_t>(heads.width / lanes);
  if (heads.width % lanes == 0 && std::has_single_bit(vectors)) {
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

template <class T>
void spmm_stored_of(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x,
                    float* y) {
  const float* row_scales = scales.rows.empty() ? nullptr : scales.rows.data();
  const std::int64_t width = x.features.columns;
  const std::int32_t* columns = a.columns.data();
  const RowsOfStore<T> rows{reinterpret_cast<const T*>(x.features.data), width, columns, x.vertices.data()};
  with_lanes_for(width, [&](auto d) HWY_ATTR {
    const auto sum_with = [&](const auto& factors) HWY_ATTR {
      if (x.kept.bits == nullptr) {
        sum_rows(d, a, range, row_scales, rows, factors, width, y, width);
      } else {
        const Dropped<std::decay_t<decltype(factors)>> dropped{factors, x.kept, width, columns};
        sum_rows(d, a, range, row_scales, rows, dropped, width, y, width);
      }
    };
    if (scales.columns.empty()) {
      sum_with(NoFactors());
    } else {
      sum_with(ColumnFactors{scales.columns.data(), columns});
    }
  });
}

void spmm_stored(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x, float* y) {
  if (x.features.type == graph::FeatureType::fp32) {
    spmm_stored_of<float>(a, range, scales, x, y);
  } else {
    spmm_stored_of<hwy::float16_t>(a, range, scales, x, y);
  }
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
HWY_EXPORT(spmm_weighted);
HWY_EXPORT(spmm_stored);
HWY_EXPORT(sum_edges);
}  // namespace

void spmm(const SparseRows& a, RowRange range, const Scales& scales, std::span<const float> x,
          std::int64_t width, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm)(a, range, scales, x.data(), width, y.data());
}

void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> weights,
                   std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm_weighted)(a, range, heads, weights.data(), x.data(), y.data());
}

void spmm_stored(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x,
                 std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm_stored)(a, range, scales, x, y.data());
}

void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> values,
               std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(sum_edges)(a, range, heads, values.data(), y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
