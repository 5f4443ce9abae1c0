// The vectorised Philox of base/philox.h: one counter per lane. Compiled once for each instruction set
// (Highway's include guard).
#if defined(GNOMON_KERNELS_CPU_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_PHILOX_INL_H_
#undef GNOMON_KERNELS_CPU_PHILOX_INL_H_
#else
#define GNOMON_KERNELS_CPU_PHILOX_INL_H_
#endif

#include "base/philox.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LaneTag = hn::CappedTag<std::uint32_t, 16>;
using Lanes = hn::VFromD<LaneTag>;

/// The high and low words of the lanes' 64-bit products.
struct Product {
  Lanes high;
  Lanes low;
};

HWY_INLINE Product multiply(Lanes a, Lanes b) {
  const LaneTag d;
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  return {hn::Set(d, static_cast<std::uint32_t>(product >> 32)),
          hn::Set(d, static_cast<std::uint32_t>(product))};
#else
  const hn::Repartition<std::uint64_t, LaneTag> d64;
  const auto odd_of = [&](Lanes v) { return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, v))); };
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(odd_of(a), odd_of(b));
  return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even))};
#endif
}

/// The four words of a counter, or of its output, in every lane.
struct LaneWords {
  Lanes word0, word1, word2, word3;
};

/// Computes base::philox4x32<7> in every lane.
HWY_INLINE LaneWords philox(LaneWords counter, base::CipherKey key) {
  const LaneTag d;
  const auto factor0 = hn::Set(d, 0xD2511F53U);
  const auto factor1 = hn::Set(d, 0xCD9E8D57U);
  for (int round = 0; round < 7; ++round) {
    const Product product0 = multiply(counter.word0, factor0);
    const Product product1 = multiply(counter.word2, factor1);
    counter = LaneWords{hn::Xor(hn::Xor(product1.high, counter.word1), hn::Set(d, key.word0)), product1.low,
                        hn::Xor(hn::Xor(product0.high, counter.word3), hn::Set(d, key.word1)), product0.low};
    key.word0 += 0x9E3779B9U;
    key.word1 += 0xBB67AE85U;
  }
  return counter;
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
