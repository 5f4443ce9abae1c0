// The vectorised draw_positions (kernels/sampling_rule.h), one vertex per lane; included by edge_drawer-inl.h
// only.
#if defined(GNOMON_KERNELS_CPU_DRAWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_DRAWS_INL_H_
#undef GNOMON_KERNELS_CPU_DRAWS_INL_H_
#else
#define GNOMON_KERNELS_CPU_DRAWS_INL_H_
#endif

#include "kernels/cpu/philox-inl.h"
#include "kernels/sampling_rule.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

/// A group of one vertex per lane and its output: draw i of lane v goes to positions[i * lanes + v].
struct DrawGroup {
  const std::uint32_t* ids;
  const std::uint32_t* degrees;  ///< at most 2^16; if at most the fanout, draw i is i
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
