// draw_positions (kernels/sampling_rule.h) for as many vertices at once as a vector holds; included by
// hop-inl.h only.
#if defined(GNOMON_KERNELS_CPU_DRAWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_DRAWS_INL_H_
#undef GNOMON_KERNELS_CPU_DRAWS_INL_H_
#else
#define GNOMON_KERNELS_CPU_DRAWS_INL_H_
#endif

#include "base/philox.h"
#include "hwy/highway.h"
#include "kernels/sampling_rule.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LaneTag = hn::CappedTag<std::uint32_t, 16>;
using Lanes = hn::VFromD<LaneTag>;

/// The 64-bit products of the lanes, as their high and low words.
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

/// base::philox4x32 in every lane.
struct LaneWords {
  Lanes word0, word1, word2, word3;
};
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

/// One group of vertices and where their draws go: draw i of lane v to positions[i * lanes + v].
struct DrawGroup {
  const std::uint32_t* ids;
  const std::uint32_t* degrees;  ///< at most 2^16; where no more than the fanout, draw i is i
  std::uint32_t* positions;
};

HWY_INLINE void draw_one(const DrawGroup& group, std::uint32_t i, Lanes word, Lanes degree, Lanes fanout) {
  const LaneTag d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const auto last = hn::Add(hn::Sub(degree, fanout), hn::Set(d, i));
  const auto drawn = multiply(word, hn::Add(last, hn::Set(d, 1U))).high;
  auto taken = hn::MaskFromVec(hn::Zero(d));
  for (std::uint32_t j = 0; j < i; ++j) {
    taken = hn::Or(taken, hn::Eq(drawn, hn::Load(d, group.positions + j * lanes)));
  }
  const auto position = hn::IfThenElse(taken, last, drawn);
  const auto takes_all = hn::Eq(hn::Min(degree, fanout), degree);
  hn::Store(hn::IfThenElse(takes_all, hn::Set(d, i), position), d, group.positions + i * lanes);
}

inline HWY_ATTR void draw_group(const base::StreamKey& stream, std::uint32_t fanout, const DrawGroup& group) {
  const LaneTag d;
  const auto ids = hn::Load(d, group.ids);
  const auto degree = hn::Load(d, group.degrees);
  const auto fanouts = hn::Set(d, fanout);
  for (std::uint32_t i = 0; i < fanout; i += 4) {
    const base::Words4 counter = base::stream_counter(stream, i / 4);
    const LaneWords words =
        philox({ids, hn::Set(d, counter.word[1]), hn::Set(d, counter.word[2]), hn::Set(d, counter.word[3])},
               base::stream_cipher(stream));
    draw_one(group, i, words.word0, degree, fanouts);
    if (i + 1 < fanout) {
      draw_one(group, i + 1, words.word1, degree, fanouts);
    }
    if (i + 2 < fanout) {
      draw_one(group, i + 2, words.word2, degree, fanouts);
    }
    if (i + 3 < fanout) {
      draw_one(group, i + 3, words.word3, degree, fanouts);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
