// Draws by weight (kernels/weighted_rule.h), for one instruction set; included by hop-inl.h only.
#if defined(GNOMON_KERNELS_CPU_RACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_RACE_INL_H_
#undef GNOMON_KERNELS_CPU_RACE_INL_H_
#else
#define GNOMON_KERNELS_CPU_RACE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/hop.h"
#include "kernels/cpu/philox-inl.h"
#include "kernels/weighted_rule.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

/// Keeps the first `most` of the arrivals that it is given. It holds some more and sorts the late ones out
/// from time to time; `latest` is when an arrival is too late already.
class Race {
 public:
  static std::size_t room_for(std::size_t most) { return most + std::max<std::size_t>(most, 32); }

  Race(HugeArray<Arrival>& room, std::size_t most)
      : room_(room.data()), most_(most), capacity_(room_for(most)) {}

  void clear() {
    size_ = 0;
    latest_ = std::numeric_limits<double>::infinity();
  }
  double latest() const { return latest_; }
  void add(const Arrival& arrival) {
    if (arrival.time <= latest_) {
      room_[size_++] = arrival;
      if (size_ == capacity_) {
        std::nth_element(room_, room_ + most_ - 1, room_ + size_);
        size_ = most_;
        latest_ = room_[most_ - 1].time;
      }
    }
  }
  /// Appends the edges of the first ones in the order of their arrival; returns the new end.
  std::uint64_t* finish(std::uint64_t* edges) {
    const std::size_t count = std::min(most_, size_);
    std::partial_sort(room_, room_ + count, room_ + size_);
    return std::transform(room_, room_ + count, edges,
                          [](const Arrival& arrival) { return static_cast<std::uint64_t>(arrival.edge); });
  }

 private:
  Arrival* room_;
  std::size_t most_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  double latest_ = 0;
};

/// The positions of one vertex's neighbours.
struct EdgeRange {
  std::int64_t first;
  std::int64_t end;
};

using WeightTag = hn::RebindToFloat<LaneTag>;
using WeightLanes = hn::VFromD<WeightTag>;

/// The edges from `base` on, one a lane, that are in the range.
HWY_INLINE hn::Mask<WeightTag> lanes_within(EdgeRange range, std::int64_t base) {
  const hn::RebindToSigned<LaneTag> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  const auto bound = [&](std::int64_t edge) {
    return hn::Set(d, static_cast<std::int32_t>(std::clamp<std::int64_t>(edge - base, 0, lanes)));
  };
  const auto lane = hn::Iota(d, 0);
  const auto inside = hn::AndNot(hn::Lt(lane, bound(range.first)), hn::Lt(lane, bound(range.end)));
  return hn::RebindMask(WeightTag(), inside);
}

/// The edges that may arrive in time. An exponential variable is at least the uniform number that it is made
/// of, so that number tells of most edges that they come too late: no logarithm for them. A little more is
/// let through than need be, whatever the rounding.
HWY_INLINE hn::Mask<WeightTag> may_be_in_time(Lanes high, WeightLanes weights, double latest) {
  const WeightTag d;
  const double bound = std::max(latest * 0x1p-26 * (1 + 0x1p-18), 1e-30);
  const auto bounds =
      hn::Set(d, bound < std::numeric_limits<float>::max() ? static_cast<float>(bound)
                                                           : std::numeric_limits<float>::infinity());
  const auto uniform = hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<LaneTag>(), hn::ShiftRight<1>(high)));
  return hn::Not(hn::Gt(uniform, hn::Mul(bounds, weights)));
}

/// Lets the edges from `base` on take part, one a lane, whose random bits are given as high and low words.
HWY_INLINE void enter(EdgeRange range, std::int64_t base, const float* weights, Lanes high, Lanes low,
                      Race& race) {
  const LaneTag d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  if (base >= range.end || base + static_cast<std::int64_t>(lanes) <= range.first) {
    return;
  }
  const auto within = lanes_within(range, base);
  const auto weight = hn::MaskedLoad(within, WeightTag(), weights + base);
  const auto asked = hn::And(within, may_be_in_time(high, weight, race.latest()));
  if (hn::AllFalse(WeightTag(), asked)) {
    return;
  }
  HWY_ALIGN std::array<std::uint32_t, lanes> highs;
  HWY_ALIGN std::array<std::uint32_t, lanes> lows;
  hn::Store(high, d, highs.data());
  hn::Store(low, d, lows.data());
  std::array<std::uint8_t, 8> bytes{};
  hn::StoreMaskBits(WeightTag(), asked, bytes.data());
  for (unsigned left = bytes[0] | (unsigned{bytes[1]} << 8); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(left));
    const std::int64_t edge = base + static_cast<std::int64_t>(lane);
    if (weights[edge] > 0) {
      race.add(arrival((std::uint64_t{highs[lane]} << 32) | lows[lane], weights[edge], edge));
    }
  }
}

/// Draws the hop's fanout out of the range and appends them to `edges`; returns the new end.
inline HWY_ATTR std::uint64_t* run_race(const Hop& hop, const float* weights, EdgeRange range, Race& race,
                                        std::uint64_t* edges) {
  const LaneTag d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  race.clear();
  for (std::int64_t group = range.first / 32 * 32; group < range.end; group += 32) {
    for (std::int64_t base = group; base < std::min(group + 16, range.end); base += lanes) {
      if (base + 16 + lanes <= range.first) {
        continue;
      }
      const auto stream = edge_stream(hop.key, hop.number, block_of_edge(base));
      const base::Words4 counter = base::stream_counter(stream, 0);
      const LaneWords words = philox({hn::Iota(d, counter.word[0]), hn::Set(d, counter.word[1]),
                                      hn::Set(d, counter.word[2]), hn::Set(d, counter.word[3])},
                                     base::stream_cipher(stream));
      enter(range, base, weights, words.word0, words.word1, race);
      enter(range, base + 16, weights, words.word2, words.word3, race);
    }
  }
  return race.finish(edges);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
