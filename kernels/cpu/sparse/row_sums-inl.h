// Sums rows in vector registers. Compiled once for each instruction set (Highway's include guard).

#if defined(GNOMON_KERNELS_CPU_ROW_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_ROW_SUMS_INL_H
#undef GNOMON_KERNELS_CPU_ROW_SUMS_INL_H
#else
#define GNOMON_KERNELS_CPU_ROW_SUMS_INL_H
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/cpu/lanes-inl.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "kernels/dropout_rule.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {

constexpr std::int64_t chunk_entries = 256;  // summed in fp32; the sums of chunks are accumulated in fp64

/// The maximum number of vectors in a tile of a row's sum, which is kept in registers.
constexpr std::size_t max_vectors = HWY_TARGET == HWY_AVX3 ? 16 : 8;

/// The addend of entry i is row columns[i] of x.
struct RowsOfColumns {
  const float* x;
  std::int64_t stride;
  const std::int32_t* columns;
  const float* at(std::int64_t entry) const { return x + columns[entry] * stride; }
};

/// The addend of entry i is the row of values of its edge.
struct RowsOfEdges {
  const float* values;
  std::int64_t stride;
  const std::int32_t* edges;  ///< null: entry i is edge i
  std::int64_t offset(std::int64_t entry) const { return (edges == nullptr ? entry : edges[entry]) * stride; }
  const float* at(std::int64_t entry) const { return values + offset(entry); }
};

/// The addend of entry i is the stored row of vertex vertices[columns[i]], or columns[i] without vertices.
template <class T>
struct RowsOfStore {
  const T* data;
  std::int64_t stride;
  const std::int32_t* columns;
  const std::int64_t* vertices;
  const T* at(std::int64_t entry) const {
    const std::int64_t column = columns[entry];
    return data + (vertices == nullptr ? column : vertices[column]) * stride;
  }
};

/// No factors: addends are summed unchanged.
struct NoFactors {
  template <class D>
  struct OfEntry {
    template <class V>
    HWY_INLINE V add(V sum, V value, std::size_t) const {
      return hn::Add(sum, value);
    }
  };
  template <class D>
  HWY_INLINE OfEntry<D> of(D, std::int64_t, std::size_t) const {
    return {};
  }
};

/// One factor per entry.
template <class D>
struct OneFactor {
  hn::Vec<D> factor;
  HWY_INLINE hn::Vec<D> add(hn::Vec<D> sum, hn::Vec<D> value, std::size_t) const {
    return hn::MulAdd(value, factor, sum);
  }
};

/// Dropout by a keep mask (`width` elements in each column's row), followed by `factors`.
template <class Factors>
struct Dropped {
  Factors factors;
  KeptElements kept;
  std::int64_t width;
  const std::int32_t* columns;

  template <class D, class Inner>
  struct OfEntry {
    Inner inner;
    const std::uint8_t* bits;
    float scale;
    std::int64_t first;  ///< index of the first element
    HWY_INLINE hn::Vec<D> add(hn::Vec<D> sum, hn::Vec<D> value, std::size_t vector) const {
      const D d;
      static_assert(hn::MaxLanes(D()) <= 57,
                    "a 64-bit word from any bit offset must hold the bits of all lanes");
      const std::int64_t element = first + static_cast<std::int64_t>(vector * hn::Lanes(d));
      std::uint64_t word;
      std::memcpy(&word, bits + element / 8, sizeof(word));
      word >>= element % 8;
      const auto is_kept = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&word));
      return inner.add(sum, hn::IfThenElseZero(is_kept, hn::Mul(value, hn::Set(d, scale))), vector);
    }
  };
  template <class D>
  HWY_INLINE auto of(D d, std::int64_t entry, std::size_t first_vector) const {
    using Inner = decltype(factors.of(d, entry, first_vector));
    const std::int64_t first =
        columns[entry] * width + static_cast<std::int64_t>(first_vector * hn::Lanes(d));
    return OfEntry<D, Inner>{factors.of(d, entry, first_vector), kept.bits, kept.scale, first};
  }
};

/// The factor of entry i is that of its column.
struct ColumnFactors {
  const float* factors;
  const std::int32_t* columns;
  template <class D>
  HWY_INLINE OneFactor<D> of(D d, std::int64_t entry, std::size_t) const {
    return {hn::Set(d, factors[columns[entry]])};
  }
};

/// The factor of entry i is its edge's weight for one head.
struct EdgeFactors {
  const float* weights;  ///< points to the head's weight of edge 0
  std::int64_t heads;
  const std::int32_t* edges;  ///< null: entry i is edge i
  std::int64_t edge(std::int64_t entry) const { return edges == nullptr ? entry : edges[entry]; }
  template <class D>
  HWY_INLINE OneFactor<D> of(D d, std::int64_t entry, std::size_t) const {
    return {hn::Set(d, weights[edge(entry) * heads])};
  }
};

/// The factors of entry i are its edge's weights for all heads; each head has 2^log2_vectors whole vectors.
struct HeadFactors {
  EdgeFactors of_edges;
  int log2_vectors;
  template <class D>
  struct OfEntry {
    const float* weights;
    std::size_t first_vector;
    int log2_vectors;
    HWY_INLINE hn::Vec<D> add(hn::Vec<D> sum, hn::Vec<D> value, std::size_t vector) const {
      return hn::MulAdd(value, hn::Set(D(), weights[(first_vector + vector) >> log2_vectors]), sum);
    }
  };
  template <class D>
  HWY_INLINE OfEntry<D> of(D, std::int64_t entry, std::size_t first_vector) const {
    return {of_edges.weights + of_edges.edge(entry) * of_edges.heads, first_vector, log2_vectors};
  }
};

/// The entries first … last-1 of one row. `end` is the end of all entries, which limits prefetching.
struct Entries {
  std::int64_t first;
  std::int64_t last;
  std::int64_t end;
};

/// The amount of addends that is prefetched ahead of their use.
constexpr std::int64_t prefetch_bytes = 4096;

/// Prefetches `bytes` of an addend a few entries after `entry`.
template <class Rows>
HWY_INLINE void prefetch_ahead(const Rows& rows, std::int64_t entry, std::int64_t end, std::int64_t offset,
                               std::int64_t bytes) {
  constexpr std::int64_t line_bytes = 64;
  const std::int64_t ahead = std::clamp<std::int64_t>(prefetch_bytes / bytes, 4, 24);
  const auto* addend = reinterpret_cast<const char*>(rows.at(std::min(entry + ahead, end - 1)) + offset);
  for (std::int64_t byte = 0; byte < bytes; byte += line_bytes) {
    hwy::Prefetch(addend + byte);
  }
}

/// Returns the sums over the entries of `vectors` vectors that begin at column `offset`. If `count` is not 0,
/// sums only the first `count` lanes of the first vector.
template <std::size_t vectors, class D, class Rows, class Factors>
HWY_INLINE std::array<hn::Vec<D>, vectors> sum_vectors(D d, const Rows& rows, const Factors& factors,
                                                       const Entries& entries, std::int64_t offset,
                                                       std::size_t count = 0) {
  const std::size_t lanes = hn::Lanes(d);
  std::array<hn::Vec<D>, vectors> sums;
  sums.fill(hn::Zero(d));
  for (std::int64_t entry = entries.first; entry < entries.last; ++entry) {
    const auto* addend = rows.at(entry) + offset;
    prefetch_ahead(rows, entry, entries.end, offset,
                   static_cast<std::int64_t>(vectors * lanes * sizeof(*addend)));
    const auto factor = factors.of(d, entry, static_cast<std::size_t>(offset) / lanes);
    if (count != 0) {
      sums[0] = factor.add(sums[0], load_first(d, addend, count), 0);
    } else {
      for_vectors<vectors>(
          [&](auto i) HWY_ATTR { sums[i] = factor.add(sums[i], load_row(d, addend + i * lanes), i); });
    }
  }
  return sums;
}

/// Writes scale · the sums to out[0 …]; for long rows, accumulates chunks in fp64.
template <std::size_t vectors, class D, class Rows, class Factors>
HWY_NOINLINE void sum_many(D d, const Rows& rows, const Factors& factors, Entries entries,
                           std::int64_t offset, std::size_t count, float scale, float* out) {
  constexpr std::size_t max_lanes = hn::MaxLanes(D()) * vectors;
  HWY_ALIGN std::array<float, max_lanes> part;
  std::array<double, max_lanes> total{};
  const std::size_t width = count != 0 ? count : vectors * hn::Lanes(d);
  const std::int64_t last = entries.last;
  for (; entries.first < last; entries.first += chunk_entries) {
    entries.last = std::min(entries.first + chunk_entries, last);
    const auto sums = sum_vectors<vectors>(d, rows, factors, entries, offset, count);
    for_vectors<vectors>([&](auto i) HWY_ATTR { hn::Store(sums[i], d, part.data() + i * hn::Lanes(d)); });
    for (std::size_t lane = 0; lane < width; ++lane) {
      total[lane] += part[lane];
    }
  }
  for (std::size_t lane = 0; lane < width; ++lane) {
    out[lane] = static_cast<float>(scale * total[lane]);
  }
}

/// Writes scale · the sums of one tile to out[offset …].
template <std::size_t vectors, class D, class Rows, class Factors>
HWY_INLINE void sum_tile(D d, const Rows& rows, const Factors& factors, const Entries& entries,
                         std::int64_t offset, std::size_t count, float scale, float* out) {
  if (HWY_UNLIKELY(entries.last - entries.first > chunk_entries)) {
    sum_many<vectors>(d, rows, factors, entries, offset, count, scale, out + offset);
    return;
  }
  const auto sums = sum_vectors<vectors>(d, rows, factors, entries, offset, count);
  const auto scales = hn::Set(d, scale);
  if (count != 0) {
    store_first(d, hn::Mul(sums[0], scales), out + offset, count);
  } else {
    for_vectors<vectors>([&](auto i) HWY_ATTR {
      hn::StoreU(hn::Mul(sums[i], scales), d, out + offset + static_cast<std::int64_t>(i * hn::Lanes(d)));
    });
  }
}

/// Writes out[0 … width-1] = scale · Σ of the entries' addends, tile by tile.
template <class D, class Rows, class Factors>
HWY_INLINE void sum_row(D d, const Rows& rows, const Factors& factors, const Entries& entries,
                        std::int64_t width, float scale, float* out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t offset = 0;
  const auto sum_tiles = [&](auto vectors) HWY_ATTR {
    for (; offset + static_cast<std::int64_t>(vectors) * lanes <= width; offset += vectors * lanes) {
      sum_tile<vectors>(d, rows, factors, entries, offset, 0, scale, out);
    }
  };
  sum_tiles(std::integral_constant<std::size_t, max_vectors>());
  sum_tiles(std::integral_constant<std::size_t, 8>());
  sum_tiles(std::integral_constant<std::size_t, 4>());
  sum_tiles(std::integral_constant<std::size_t, 1>());
  if (offset < width) {
    sum_tile<1>(d, rows, factors, entries, offset, static_cast<std::size_t>(width - offset), scale, out);
  }
}

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

}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
