#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/sddmm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/sparse/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

/// y[0 … width-1] = left + right.
template <class D>
HWY_INLINE void add_rows(D d, const float* left, const float* right, std::int64_t width, float* y) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, left + i), hn::LoadU(d, right + i)), d, y + i);
  }
  if (i < width) {
    const auto count = static_cast<std::size_t>(width - i);
    store_first(d, hn::Add(load_first(d, left + i, count), load_first(d, right + i, count)), y + i, count);
  }
}

/// Returns the dot product, accumulated in two independent sums.
template <class D>
HWY_INLINE float dot(D d, const float* left, const float* right, std::int64_t width) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, left + i), hn::LoadU(d, right + i), even);
    odd = hn::MulAdd(hn::LoadU(d, left + i + lanes), hn::LoadU(d, right + i + lanes), odd);
  }
  if (i + lanes <= width) {
    even = hn::MulAdd(hn::LoadU(d, left + i), hn::LoadU(d, right + i), even);
    i += lanes;
  }
  if (i < width) {
    const auto count = static_cast<std::size_t>(width - i);
    odd = hn::MulAdd(load_first(d, left + i, count), load_first(d, right + i, count), odd);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

/// Calls act(row, entry, edge) for every entry of the rows in the range.
template <class Act>
HWY_INLINE void for_entries(const SparseRows& a, RowRange range, const Act& act) {
  const std::int32_t* edges = a.edges.empty() ? nullptr : a.edges.data();
  for (std::int64_t row = range.first; row < range.last; ++row) {
    const std::int64_t last = a.indptr[static_cast<std::size_t>(row) + 1];
    for (std::int64_t entry = a.indptr[static_cast<std::size_t>(row)]; entry < last; ++entry) {
      act(row, entry, edges == nullptr ? entry : edges[entry]);
    }
  }
}

void sddmm_add(const SparseRows& a, RowRange range, std::int64_t heads, const float* row_scores,
               const float* column_scores, float* y) {
  const RowsOfColumns columns{column_scores, heads, a.columns.data()};
  const std::int64_t end = a.num_entries();
  with_lanes_for(heads, [&](auto d) HWY_ATTR {
    for_entries(a, range, [&](std::int64_t row, std::int64_t entry, std::int64_t edge) HWY_ATTR {
      hwy::Prefetch(columns.at(std::min(entry + 32, end - 1)));
      add_rows(d, row_scores + row * heads, columns.at(entry), heads, y + edge * heads);
    });
  });
}

void sddmm_dot(const SparseRows& a, RowRange range, const Heads& heads, const float* row_values,
               const float* column_values, float* y) {
  const std::int64_t stride = heads.count * heads.width;
  const RowsOfColumns columns{column_values, stride, a.columns.data()};
  const std::int64_t end = a.num_entries();
  with_lanes_for(heads.width, [&](auto d) HWY_ATTR {
    for_entries(a, range, [&](std::int64_t row, std::int64_t entry, std::int64_t edge) HWY_ATTR {
      prefetch_ahead(columns, entry, end, 0, stride * static_cast<std::int64_t>(sizeof(float)));
      const float* left = row_values + row * stride;
      const float* right = columns.at(entry);
      for (std::int64_t h = 0; h < heads.count; ++h) {
        y[edge * heads.count + h] = dot(d, left + h * heads.width, right + h * heads.width, heads.width);
      }
    });
  });
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(sddmm_add);
HWY_EXPORT(sddmm_dot);
}  // namespace

void sddmm_add(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> row_scores,
               std::span<const float> column_scores, std::span<float> y) {
  if (heads > 0) {
    HWY_DYNAMIC_DISPATCH(sddmm_add)(a, range, heads, row_scores.data(), column_scores.data(), y.data());
  }
}

void sddmm_dot(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> row_values,
               std::span<const float> column_values, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(sddmm_dot)(a, range, heads, row_values.data(), column_values.data(), y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
