#include <array>
#include <cstdint>
#include <limits>

#include "kernels/cpu/sparse/sparse.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/edge_softmax.cpp"
#include <hwy/foreach_target.h>

#include "hwy/contrib/math/math-inl.h"
#include "kernels/cpu/sparse/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

/// Loads and stores a vector of several heads' values: all lanes, or the first `count`.
template <class D>
struct HeadLanes {
  D d;
  std::size_t count;
  bool whole() const { return count == hn::Lanes(d); }
  HWY_INLINE hn::Vec<D> load(const float* from) const {
    return whole() ? hn::LoadU(d, from) : load_first(d, from, count);
  }
  HWY_INLINE void store(hn::Vec<D> values, float* to) const {
    if (whole()) {
      hn::StoreU(values, d, to);
    } else {
      store_first(d, values, to, count);
    }
  }
};

/// Returns Σ term(entry) over first … last-1 for every lane; beyond chunk_entries, it accumulates in fp64.
template <class D, class Term>
HWY_INLINE hn::Vec<D> sum_of(D d, std::int64_t first, std::int64_t last, const Term& term) {
  const auto sum_chunk = [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::int64_t entry = begin; entry < end; ++entry) {
      sum = hn::Add(sum, term(entry));
    }
    return sum;
  };
  if (HWY_LIKELY(last - first <= chunk_entries)) {
    return sum_chunk(first, last);
  }
  HWY_ALIGN std::array<float, hn::MaxLanes(D())> part{};
  std::array<double, hn::MaxLanes(D())> total{};
  for (std::int64_t begin = first; begin < last; begin += chunk_entries) {
    hn::Store(sum_chunk(begin, std::min(begin + chunk_entries, last)), d, part.data());
    for (std::size_t lane = 0; lane < part.size(); ++lane) {
      total[lane] += part[lane];
    }
  }
  for (std::size_t lane = 0; lane < part.size(); ++lane) {
    part[lane] = static_cast<float>(total[lane]);
  }
  return hn::Load(d, part.data());
}

/// Calls act(first, last, head lanes, at) for each row, whose entries are first … last-1, and each vector of
/// heads. at(entry) is the offset of the heads' values of the entry's edge.
template <class D, class Act>
HWY_INLINE void for_head_vectors(D d, const SparseRows& a, RowRange range, std::int64_t heads,
                                 const Act& act) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const RowsOfEdges rows{nullptr, heads, a.edges.empty() ? nullptr : a.edges.data()};
  for (std::int64_t row = range.first; row < range.last; ++row) {
    const std::int64_t first = a.indptr[static_cast<std::size_t>(row)];
    const std::int64_t last = a.indptr[static_cast<std::size_t>(row) + 1];
    for (std::int64_t head = 0; head < heads; head += lanes) {
      const HeadLanes<D> of_heads{d, static_cast<std::size_t>(std::min(lanes, heads - head))};
      act(first, last, of_heads, [&](std::int64_t entry) HWY_ATTR { return rows.offset(entry) + head; });
    }
  }
}

template <class D>
void edge_softmax(D d, const SparseRows& a, RowRange range, std::int64_t heads, const float* logits,
                  float* y) {
  for_head_vectors(d, a, range, heads,
                   [&](std::int64_t first, std::int64_t last, const auto& of_heads, const auto& at) HWY_ATTR {
                     auto maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
                     for (std::int64_t entry = first; entry < last; ++entry) {
                       maximum = hn::Max(maximum, of_heads.load(logits + at(entry)));
                     }
                     const auto total = sum_of(d, first, last, [&](std::int64_t entry) HWY_ATTR {
                       const auto power = hn::Exp(d, hn::Sub(of_heads.load(logits + at(entry)), maximum));
                       of_heads.store(power, y + at(entry));
                       return power;
                     });
                     for (std::int64_t entry = first; entry < last; ++entry) {
                       of_heads.store(hn::Div(of_heads.load(y + at(entry)), total), y + at(entry));
                     }
                   });
}

template <class D>
void edge_softmax_backward(D d, const SparseRows& a, RowRange range, std::int64_t heads, const float* softmax,
                           const float* gradient, float* y) {
  for_head_vectors(d, a, range, heads,
                   [&](std::int64_t first, std::int64_t last, const auto& of_heads, const auto& at) HWY_ATTR {
                     const auto mean = sum_of(d, first, last, [&](std::int64_t entry) HWY_ATTR {
                       return hn::Mul(of_heads.load(softmax + at(entry)),
                                      of_heads.load(gradient + at(entry)));
                     });
                     for (std::int64_t entry = first; entry < last; ++entry) {
                       const auto above = hn::Sub(of_heads.load(gradient + at(entry)), mean);
                       of_heads.store(hn::Mul(of_heads.load(softmax + at(entry)), above), y + at(entry));
                     }
                   });
}

void edge_softmax_any(const SparseRows& a, RowRange range, std::int64_t heads, const float* logits,
                      float* y) {
  with_lanes_for(heads, [&](auto d) HWY_ATTR { edge_softmax(d, a, range, heads, logits, y); });
}

void edge_softmax_backward_any(const SparseRows& a, RowRange range, std::int64_t heads, const float* softmax,
                               const float* gradient, float* y) {
  with_lanes_for(heads,
                 [&](auto d) HWY_ATTR { edge_softmax_backward(d, a, range, heads, softmax, gradient, y); });
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {
HWY_EXPORT(edge_softmax_any);
HWY_EXPORT(edge_softmax_backward_any);
}  // namespace

void edge_softmax(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> logits,
                  std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(edge_softmax_any)(a, range, heads, logits.data(), y.data());
}

void edge_softmax_backward(const SparseRows& a, RowRange range, std::int64_t heads,
                           std::span<const float> softmax, std::span<const float> gradient,
                           std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(edge_softmax_backward_any)
  (a, range, heads, softmax.data(), gradient.data(), y.data());
}

}  // namespace gnomon::kernels::cpu
#endif
