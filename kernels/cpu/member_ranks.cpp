#include "kernels/cpu/member_ranks.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/member_ranks.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

constexpr int log_word_bits = 5;

#if HWY_TARGET != HWY_SCALAR
using IdTag = hn::ScalableTag<std::uint32_t>;
using Ids = hn::Vec<IdTag>;

/// The index of the word that has each id's bit.
HWY_INLINE auto word_index(Ids id) {
  return hn::BitCast(hn::RebindToSigned<IdTag>(), hn::ShiftRight<log_word_bits>(id));
}

/// Each id's bit in its word.
HWY_INLINE Ids bit_in_word(Ids id) {
  const IdTag d;
  return hn::Shl(hn::Set(d, 1), hn::And(id, hn::Set(d, 31)));
}
#endif

/// Copies the members among `count` ids to `to`, without branches, which would be mispredicted. Returns their
/// number.
std::size_t copy_members(const std::uint32_t* ids, std::size_t count, const std::uint32_t* words,
                         std::uint32_t* to) {
  auto* next = to;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const IdTag d;
  const auto are_members = [&](Ids id) HWY_ATTR {
    return hn::TestBit(hn::GatherIndex(d, words, word_index(id)), bit_in_word(id));
  };
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto id = hn::LoadU(d, ids + i);
    next += hn::CompressStore(id, are_members(id), d, next);
  }
  if (has_masked_memory && i < count) {
    const auto rest = hn::FirstN(d, count - i);
    const auto id = hn::MaskedLoad(rest, d, ids + i);
    next += hn::CompressStore(id, hn::And(are_members(id), rest), d, next);
    i = count;
  }
#endif
  for (; i < count; ++i) {
    *next = ids[i];
    next += (words[ids[i] >> log_word_bits] >> (ids[i] & 31)) & 1;
  }
  return static_cast<std::size_t>(next - to);
}

/// Replaces members by their ranks; reads and writes whole vectors.
void rank_all(std::uint32_t* members, std::size_t count, const std::uint32_t* words,
              const std::uint32_t* before) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const IdTag d;
  for (; i < count; i += hn::Lanes(d)) {
    const auto id = hn::IfThenElseZero(hn::FirstN(d, count - i), hn::LoadU(d, members + i));
    const auto place = word_index(id);
    const auto below = hn::Sub(bit_in_word(id), hn::Set(d, 1));
    const auto bits = hn::And(hn::GatherIndex(d, words, place), below);
    hn::StoreU(hn::Add(hn::GatherIndex(d, before, place), hn::PopulationCount(bits)), d, members + i);
  }
#else
  for (; i < count; ++i) {
    const auto id = members[i];
    const auto bits = words[id >> log_word_bits] & ((std::uint32_t{1} << (id & 31)) - 1);
    members[i] = before[id >> log_word_bits] + static_cast<std::uint32_t>(hwy::PopCount(bits));
  }
#endif
}

std::size_t member_ranks_with(std::span<const std::uint32_t> ids, const base::RankedBits& members,
                              std::uint32_t* to) {
  const std::size_t count = copy_members(ids.data(), ids.size(), members.words().data(), to);
  rank_all(to, count, members.words().data(), members.before().data());
  return count;
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {

HWY_EXPORT(member_ranks_with);

std::size_t member_ranks(std::span<const std::uint32_t> ids, const base::RankedBits& members,
                         std::uint32_t* to) {
  return HWY_DYNAMIC_DISPATCH(member_ranks_with)(ids, members, to);
}

}  // namespace gnomon::kernels::cpu
#endif
