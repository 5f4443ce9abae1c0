// Loads and stores fp32 vectors from and to rows of any width and type. Compiled once for each instruction
// set (Highway's include guard).

#if defined(GNOMON_KERNELS_CPU_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_LANES_INL_H
#undef GNOMON_KERNELS_CPU_LANES_INL_H
#else
#define GNOMON_KERNELS_CPU_LANES_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether partial vectors can be loaded and stored without accessing memory beyond them.
constexpr bool has_masked_memory = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

/// Calls act(0) … act(count - 1) with compile-time constants, so that arrays of vectors stay in registers.
template <std::size_t count, class Act>
HWY_INLINE void for_vectors(Act&& act) {
  [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR {
    (act(std::integral_constant<std::size_t, i>()), ...);
  }
  (std::make_index_sequence<count>());
}

/// Loads a whole vector and converts it to fp32.
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const hwy::float16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const hwy::bfloat16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), from));
}

/// Loads the first `count` lanes; the others are 0.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, std::size_t count) {
  if constexpr (has_masked_memory && sizeof(T) == sizeof(float)) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN std::array<T, hn::MaxLanes(D())> copy{};
    std::memcpy(copy.data(), from, count * sizeof(T));
    return load_row(d, copy.data());
  }
}

/// Stores the first `count` lanes.
template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> values, float* to, std::size_t count) {
  if constexpr (has_masked_memory) {
    hn::BlendedStore(values, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN std::array<float, hn::MaxLanes(D())> copy;
    hn::Store(values, d, copy.data());
    std::memcpy(to, copy.data(), count * sizeof(float));
  }
}

/// Calls act(d) with the tag of the smallest vectors that hold `width` lanes, or of the largest vectors.
template <class Act>
HWY_INLINE void with_lanes_for(std::int64_t width, const Act& act) {
  if (width <= 4) {
    act(hn::CappedTag<float, 4>());
  } else if (width <= 8) {
    act(hn::CappedTag<float, 8>());
  } else {
    act(hn::ScalableTag<float>());
  }
}

}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
