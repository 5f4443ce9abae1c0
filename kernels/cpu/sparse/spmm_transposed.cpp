#include <algorithm>
#include <array>

#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/spmm_transposed.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

/// Entries of one row of a sparse matrix.
struct RowEntries {
  const std::int32_t* columns;
  const float* values;  ///< null: all are 1
  std::int64_t count;
};

/// Adds value · x[0 …] to row columns[i] of y for each entry, where x has `vectors` vectors or, if `count` is
/// not 0, `count` lanes.
template <std::size_t vectors, class D>
HWY_INLINE void add_tile(D d, const RowEntries& entries, const float* x, float* y, std::int64_t stride,
                         std::size_t count) {
  const std::size_t lanes = hn::Lanes(d);
  std::array<hn::Vec<D>, vectors> addend;
  for_vectors<vectors>([&](auto i) HWY_ATTR {
    addend[i] = count == 0 ? hn::LoadU(d, x + i * lanes) : load_first(d, x, count);
  });
  for (std::int64_t entry = 0; entry < entries.count; ++entry) {
    float* out = y + entries.columns[entry] * stride;
    const auto value = hn::Set(d, entries.values == nullptr ? 1.0F : entries.values[entry]);
    if (count != 0) {
      store_first(d, hn::MulAdd(addend[0], value, load_first(d, out, count)), out, count);
    } else {
      for_vectors<vectors>([&](auto i) HWY_ATTR {
        hn::StoreU(hn::MulAdd(addend[i], value, hn::LoadU(d, out + i * lanes)), d, out + i * lanes);
      });
    }
  }
}

/// add_tile for rows of `width` columns.
template <class D>
HWY_INLINE void add_row(D d, const RowEntries& entries, const float* x, std::int64_t width, float* y) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t offset = 0;
  const auto add_tiles = [&](auto vectors) HWY_ATTR {
    for (; offset + static_cast<std::int64_t>(vectors) * lanes <= width; offset += vectors * lanes) {
      add_tile<vectors>(d, entries, x + offset, y + offset, width, 0);
    }
  };
  add_tiles(std::integral_constant<std::size_t, 8>());
  add_tiles(std::integral_constant<std::size_t, 4>());
  add_tiles(std::integral_constant<std::size_t, 1>());
  if (offset < width) {
    add_tile<1>(d, entries, x + offset, y + offset, width, static_cast<std::size_t>(width - offset));
  }
}

void spmm_transposed(const SparseRows& a, RowRange rows, RowRange columns, const float* values,
                     const float* x, std::int64_t width, float* y) {
  const std::int32_t* all = a.columns.data();
  with_lanes_for(width, [&](auto d) HWY_ATTR {
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
      const auto* end = all + a.indptr[static_cast<std::size_t>(row) + 1];
      const auto* first = std::lower_bound(all + a.indptr[static_cast<std::size_t>(row)], end, columns.first);
      const auto* last = std::lower_bound(first, end, columns.last);
      add_row(d, {first, values == nullptr ? nullptr : values + (first - all), last - first}, x + row * width,
              width, y);
    }
  });
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(spmm_transposed);
}  // namespace

void spmm_transposed(const SparseRows& a, RowRange rows, RowRange columns, std::span<const float> values,
                     std::span<const float> x, std::int64_t width, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(spmm_transposed)
  (a, rows, columns, values.empty() ? nullptr : values.data(), x.data(), width, y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
