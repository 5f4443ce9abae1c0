#include <type_traits>

#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/spmm_stored.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/sparse/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

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
  } else if (x.features.type == graph::FeatureType::fp16) {
    spmm_stored_of<hwy::float16_t>(a, range, scales, x, y);
  } else {
    spmm_stored_of<hwy::bfloat16_t>(a, range, scales, x, y);
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(spmm_stored);
}  // namespace

void spmm_stored(const SparseRows& a, RowRange range, const Scales& scales, const StoredRows& x,
                 std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm_stored)(a, range, scales, x, y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
