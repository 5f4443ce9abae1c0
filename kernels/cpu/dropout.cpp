#include "kernels/cpu/dropout.h"

#include <algorithm>
#include <bit>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dropout.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

/// The scalar path, for any number of elements.
template <bool relu>
void drop_one_by_one(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                     float* to) {
  const float scale = rule.scale();
  for (std::int64_t i = 0; i < count; i += dropout_block) {
    const auto words = rule.words((first + i) / dropout_block);
    for (std::int64_t j = 0; j < std::min(dropout_block, count - i); ++j) {
      const bool is_dropped = rule.is_dropped(words, j) || (relu && from[i + j] < 0);
      to[i + j] = is_dropped ? 0.0F : from[i + j] * scale;
    }
  }
}

/// Writes the keep mask of `blocks` blocks; the scalar path.
void keep_one_by_one(const DropoutRule& rule, std::int64_t first_block, std::int64_t blocks,
                     std::uint8_t* bits) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    bits[block] = rule.kept(rule.words(first_block + block));
  }
}

#if HWY_TARGET != HWY_SCALAR
constexpr auto vector_lanes = static_cast<std::int64_t>(hn::MaxLanes(LaneTag()));

/// Returns how many of `blocks` blocks, from `first_block` on, the vectorised path handles: whole vectors of
/// blocks whose counters differ in the first word only. It requires little-endian order, in which the halves
/// of the words lie in the order of the elements.
constexpr std::int64_t blocks_in_vectors(std::int64_t first_block, std::int64_t blocks) {
  constexpr std::int64_t max_blocks = std::int64_t{1} << 32;
  const std::int64_t usable = std::min(blocks, max_blocks - first_block);
  return std::endian::native == std::endian::little
             ? std::max<std::int64_t>(0, usable) / vector_lanes * vector_lanes
             : 0;
}

/// Draws the words of as many blocks as a vector has lanes, from `block` on. Block after block, they are the
/// elements' 16-bit numbers in order.
HWY_INLINE void draw_blocks(const DropoutRule& rule, std::int64_t block, std::uint32_t* numbers) {
  const LaneTag d;
  auto stream = rule.key;
  stream.item = static_cast<std::uint64_t>(block);
  const auto counter = base::stream_counter(stream, 0);
  const auto words = philox({hn::Iota(d, counter.word[0]), hn::Set(d, counter.word[1]),
                             hn::Set(d, counter.word[2]), hn::Set(d, counter.word[3])},
                            base::stream_cipher(rule.key));
  hn::StoreInterleaved4(words.word0, words.word1, words.word2, words.word3, d, numbers);
}

/// Applies dropout to as many blocks as a vector has lanes, from `block` on.
template <bool relu>
HWY_INLINE void drop_blocks(const DropoutRule& rule, std::int64_t block, const float* from, float* to) {
  const LaneTag d;
  constexpr std::size_t lanes = hn::MaxLanes(LaneTag());
  HWY_ALIGN std::uint32_t numbers[4 * lanes];
  draw_blocks(rule, block, numbers);
  const hn::RebindToFloat<LaneTag> df;
  const hn::Rebind<std::uint16_t, LaneTag> d16;
  const auto threshold = hn::Set(d, rule.threshold);
  const auto scale = hn::Set(df, rule.scale());
  const auto* drawn = reinterpret_cast<const std::uint16_t*>(numbers);
  for (std::size_t i = 0; i < 8 * lanes; i += lanes) {
    const auto is_drawn = hn::Lt(hn::PromoteTo(d, hn::Load(d16, drawn + i)), threshold);
    const auto value = hn::LoadU(df, from + i);
    auto is_dropped = hn::RebindMask(df, is_drawn);
    if constexpr (relu) {
      is_dropped = hn::Or(is_dropped, hn::Lt(value, hn::Zero(df)));
    }
    hn::StoreU(hn::IfThenZeroElse(is_dropped, hn::Mul(value, scale)), df, to + i);
  }
}

/// Writes the keep mask of as many blocks as a vector has lanes, from `block` on.
HWY_INLINE void keep_blocks(const DropoutRule& rule, std::int64_t block, std::uint8_t* bits) {
  const hn::Repartition<std::uint16_t, LaneTag> d;
  constexpr std::size_t lanes = hn::MaxLanes(LaneTag());
  HWY_ALIGN std::uint32_t numbers[4 * lanes];
  draw_blocks(rule, block, numbers);
  const auto threshold = hn::Set(d, static_cast<std::uint16_t>(rule.threshold));
  const auto* drawn = reinterpret_cast<const std::uint16_t*>(numbers);
  for (std::size_t i = 0; i < dropout_block * lanes; i += hn::MaxLanes(d)) {
    const auto number = hn::Load(d, drawn + i);
    const auto is_kept = hn::Eq(hn::Max(number, threshold), number);
    hn::StoreMaskBits(d, is_kept, bits + i / dropout_block);
  }
}
#endif

template <bool relu>
void drop(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from, float* to) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const std::int64_t first_block = first / dropout_block;
  const std::int64_t blocks = blocks_in_vectors(first_block, count / dropout_block);
  for (std::int64_t block = 0; block < blocks; block += vector_lanes) {
    i = block * dropout_block;
    drop_blocks<relu>(rule, first_block + block, from + i, to + i);
  }
  i = blocks * dropout_block;
#endif
  drop_one_by_one<relu>(rule, first + i, count - i, from + i, to + i);
}

void dropout_with(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                  float* to) {
  drop<false>(rule, first, count, from, to);
}

void relu_dropout_with(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                       float* to) {
  drop<true>(rule, first, count, from, to);
}

void kept_elements_with(const DropoutRule& rule, std::int64_t first, std::int64_t count, std::uint8_t* bits) {
  const std::int64_t first_block = first / dropout_block;
  const std::int64_t blocks = (count + dropout_block - 1) / dropout_block;
  std::int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  for (const std::int64_t end = blocks_in_vectors(first_block, blocks); done < end; done += vector_lanes) {
    keep_blocks(rule, first_block + done, bits + done);
  }
#endif
  keep_one_by_one(rule, first_block + done, blocks - done, bits + done);
}

void relu_dropout_gradient_with(float scale, std::int64_t count, const float* out, const float* gradient,
                                float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scales = hn::Set(d, scale);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto is_zero = hn::Eq(hn::LoadU(d, out + i), hn::Zero(d));
    hn::StoreU(hn::IfThenZeroElse(is_zero, hn::Mul(hn::LoadU(d, gradient + i), scales)), d, to + i);
  }
  for (; i < count; ++i) {
    to[i] = out[i] == 0 ? 0.0F : gradient[i] * scale;
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {

HWY_EXPORT(dropout_with);
HWY_EXPORT(relu_dropout_with);
HWY_EXPORT(kept_elements_with);
HWY_EXPORT(relu_dropout_gradient_with);

void dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(dropout_with)(rule, first, count, from, to);
}

void relu_dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                  float* to) {
  HWY_DYNAMIC_DISPATCH(relu_dropout_with)(rule, first, count, from, to);
}

void kept_elements(const DropoutRule& rule, std::int64_t first, std::int64_t count, std::uint8_t* bits) {
  HWY_DYNAMIC_DISPATCH(kept_elements_with)(rule, first, count, bits);
}

void relu_dropout_gradient(float scale, std::int64_t count, const float* out, const float* gradient,
                           float* to) {
  HWY_DYNAMIC_DISPATCH(relu_dropout_gradient_with)(scale, count, out, gradient, to);
}

}  // namespace gnomon::kernels::cpu
#endif
