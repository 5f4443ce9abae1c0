// The table of local ids, for one instruction set; included by hop-inl.h only.
#if defined(GNOMON_KERNELS_CPU_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_TABLE_INL_H_
#undef GNOMON_KERNELS_CPU_TABLE_INL_H_
#else
#define GNOMON_KERNELS_CPU_TABLE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/slack.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using SlotVector = hn::CappedTag<std::uint64_t, 8>;  // at most a cache line

constexpr std::size_t bucket_slots = hn::MaxLanes(SlotVector());

/// At most 5 of 8 slots are taken: full buckets stay few.
inline std::size_t buckets_for(std::int64_t members) {
  return static_cast<std::size_t>(std::max<std::int64_t>(members, 64)) * 8 / (5 * bucket_slots) + 1;
}

inline void clear_table_with(SlotTable& table, std::int64_t members) {
  // One bucket more, for writes that shall have no effect.
  const std::size_t buckets = buckets_for(members);
  table.slots.reserve((buckets + 1) * bucket_slots, 0);
  table.buckets = buckets;
  table.most_members = static_cast<std::int64_t>(buckets * bucket_slots * 5 / 8);
  std::memset(table.slots.data(), 0, buckets * bucket_slots * sizeof(std::uint64_t));
}

/// The same number, of which the compiler knows nothing, so that it makes no branch of what depends on it.
HWY_INLINE std::uint64_t opaque(std::uint64_t number) {
  asm("" : "+r"(number));
  return number;
}

/// The table while a hop adds to it: a few numbers that fit into registers, to be copied into a local
/// variable round a loop.
struct Numbering {
  std::uint64_t* slots = nullptr;
  std::uint64_t buckets = 0;
  std::uint32_t* vertices = nullptr;  ///< room for one more than are added
  std::uint64_t size = 0;

  /// Where a vertex's bucket begins: Fibonacci hashing (Knuth, TAOCP 3, §6.4), then the share of the buckets.
  HWY_INLINE std::uint32_t home_of(std::uint32_t id) const {
    return static_cast<std::uint32_t>((std::uint64_t{id * 0x9E3779B1U} * buckets) >> 32) *
           static_cast<std::uint32_t>(bucket_slots);
  }

  HWY_INLINE void prefetch(std::uint32_t home) const { __builtin_prefetch(slots + home, 1); }

  /// The vertex's local id; a new one is given `size`. No branch depends on whether it is new: one in three
  /// is, which no predictor foresees.
  HWY_INLINE std::uint32_t find_or_add(std::uint32_t id, std::uint32_t home) {
    const SlotVector d;
    const std::uint64_t key = std::uint64_t{id} << 32;
    const auto keys = hn::Set(d, key);
    const auto id_bits = hn::Set(d, std::uint64_t{0xFFFFFFFF00000000U});
    const std::size_t end = buckets * bucket_slots;
    std::size_t at = home;
    std::intptr_t lane;
    while (true) {
      const auto bucket = hn::Load(d, slots + at);
      const auto fits = hn::Or(hn::Eq(hn::And(bucket, id_bits), keys), hn::Eq(bucket, hn::Zero(d)));
      lane = hn::FindFirstTrue(d, fits);
      if (HWY_LIKELY(lane >= 0)) {
        break;
      }
      at += bucket_slots;
      at = at == end ? 0 : at;
    }
    at += static_cast<std::size_t>(lane);
    const std::uint64_t held = slots[at];
    const std::uint64_t is_new = opaque(held == 0 ? ~std::uint64_t{0} : 0);
    const std::uint64_t local = (held & 0xFFFFFFFFU) - 1 + ((size + 1) & is_new);
    // A known vertex's slot is not written again: the next vector read would have to wait for it.
    slots[end ^ ((at ^ end) & is_new)] = key | (size + 1);
    vertices[size] = id;
    size -= is_new;
    return static_cast<std::uint32_t>(local);
  }
};

inline Numbering numbering_of(Workspace& work) {
  return {work.table.slots.data(), work.table.buckets, work.vertices.data(),
          static_cast<std::uint64_t>(work.size)};
}

/// Room to make for `needed`: no more than there is already, as long as that is enough.
inline std::size_t room_for(std::size_t needed, const Workspace& work) {
  const std::size_t most = needed <= work.room ? work.room : work.most;
  return std::max(needed, std::min(with_slack(needed), most));
}

/// Makes room for `more` further vertices; returns whether all vertices have new homes.
inline HWY_ATTR bool make_room(Workspace& work, std::size_t more) {
  const auto size = static_cast<std::size_t>(work.size);
  const std::size_t needed = size + more;
  check_batch_size(needed);
  work.needed = std::max(work.needed, needed);
  if (needed >= work.vertices.capacity()) {
    work.vertices.reserve(room_for(needed, work) + 1, size);
  }
  if (static_cast<std::int64_t>(needed) <= work.table.most_members) {
    return false;
  }
  clear_table_with(work.table, static_cast<std::int64_t>(room_for(needed, work)));
  Numbering numbering = numbering_of(work);
  numbering.size = 0;
  for (std::size_t i = 0; i < size; ++i) {
    numbering.find_or_add(work.vertices[i], numbering.home_of(work.vertices[i]));
  }
  return true;
}

inline void settle_with(Workspace& work) {
  if (work.needed > work.room) {
    work.room = room_for(work.needed, work);
    work.vertices.reserve(work.room + 1, static_cast<std::size_t>(work.size));
    work.table.slots.reserve((buckets_for(static_cast<std::int64_t>(work.room)) + 1) * bucket_slots, 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
