#include "kernels/cpu/bf16.h"

#include "graph/bf16.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/bf16.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint32_t below_half = 0x7FFF;   // just below half a unit in bf16's last place
constexpr std::uint32_t quiet_bit = 0x400000;  // set so that truncating a NaN does not yield an infinity

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> d;
  const hn::Rebind<std::uint16_t, decltype(df)> d16;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(df));
  const auto half = hn::Set(d, below_half);
  const auto one = hn::Set(d, 1U);
  const auto quiet = hn::Set(d, quiet_bit);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, from + i);
    const auto bits = hn::BitCast(d, value);
    const auto nearest = hn::Add(hn::Add(bits, half), hn::And(hn::ShiftRight<16>(bits), one));
    const auto is_nan = hn::RebindMask(d, hn::IsNaN(value));
    const auto kept = hn::IfThenElse(is_nan, hn::Or(bits, quiet), nearest);
    hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(kept)), d16, to + i);
  }
  for (; i < count; ++i) {
    to[i] = graph::bf16_from_float(from[i]);
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {

HWY_EXPORT(round_to_bf16);

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(round_to_bf16)(from, count, to);
}

}  // namespace gnomon::kernels::cpu
#endif
