// The hash table of local ids, for one instruction set; included by hop-inl.h only.
#if defined(GNOMON_KERNELS_CPU_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_TABLE_INL_H_
#undef GNOMON_KERNELS_CPU_TABLE_INL_H_
#else
#define GNOMON_KERNELS_CPU_TABLE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/headroom.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using SlotVector = hn::CappedTag<std::uint64_t, 8>;  // at most a cache line

constexpr std::size_t bucket_slots = hn::MaxLanes(SlotVector());

/// The load factor is at most 5/8, so that few buckets are full.
inline std::size_t buckets_for(std::int64_t members) {
  return static_cast<std::size_t>(std::max<std::int64_t>(members, 64)) * 8 / (5 * bucket_slots) + 1;
}

inline void clear_table_with(SlotTable& table, std::int64_t members) {
  // One more bucket is the target of branchless writes that must have no effect.
  const std::size_t buckets = buckets_for(members);
  table.slots.reserve((buckets + 1) * bucket_slots, 0);
  table.buckets = buckets;
  table.max_members = static_cast<std::int64_t>(buckets * bucket_slots * 5 / 8);
  std::memset(table.slots.data(), 0, buckets * bucket_slots * sizeof(std::uint64_t));
}

/// An optimisation barrier: returns `number` in a way that hides its value from the compiler, which then
/// cannot turn dependent selections into branches.
HWY_INLINE std::uint64_t hide_from_compiler(std::uint64_t number) {
  asm("" : "+r"(number));
  return number;
}

/// A view of the table while a hop adds to it. It fits into registers if it is copied to a local variable
/// around a loop.
struct SlotTableView {
  std::uint64_t* slots = nullptr;
  std::uint64_t buckets = 0;
  std::uint32_t* vertices = nullptr;  ///< needs space for one more than the vertices that are added
  std::uint64_t size = 0;

  /// Returns the first slot of a vertex's home bucket: Fibonacci hashing (Knuth, TAOCP 3, §6.4), mapped to
  /// the buckets by multiply-shift.
  HWY_INLINE std::uint32_t home_of(std::uint32_t id) const {
    return static_cast<std::uint32_t>((std::uint64_t{id * 0x9E3779B1U} * buckets) >> 32) *
           static_cast<std::uint32_t>(bucket_slots);
  }

  HWY_INLINE void prefetch(std::uint32_t home) const { __builtin_prefetch(slots + home, 1); }

  /// Returns the vertex's local id; a new vertex gets the id `size`. The code is branchless in whether the
  /// vertex is new, which is unpredictable.
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
    const std::uint64_t is_new = hide_from_compiler(held == 0 ? ~std::uint64_t{0} : 0);
    const std::uint64_t local = (held & 0xFFFFFFFFU) - 1 + ((size + 1) & is_new);
    // A known vertex's slot is not rewritten, because the next vector load would wait for the store.
    slots[end ^ ((at ^ end) & is_new)] = key | (size + 1);
    vertices[size] = id;
    size -= is_new;
    return static_cast<std::uint32_t>(local);
  }
};

inline SlotTableView table_view(Workspace& work) {
  return {work.table.slots.data(), work.table.buckets, work.vertices.data(),
          static_cast<std::uint64_t>(work.size)};
}

/// Returns the capacity to reserve for `needed` vertices: with headroom, up to the capacity at the begin of
/// the batch if that suffices, otherwise up to the batch's bound.
inline std::size_t capacity_for(std::size_t needed, const Workspace& work) {
  const std::size_t max = needed <= work.capacity ? work.capacity : work.max_vertices;
  return std::max(needed, std::min(with_headroom(needed), max));
}

/// Ensures capacity for `more` further vertices. Returns whether the table was rebuilt, which changes all
/// home buckets.
inline HWY_ATTR bool ensure_capacity(Workspace& work, std::size_t more) {
  const auto size = static_cast<std::size_t>(work.size);
  const std::size_t needed = size + more;
  check_batch_size(needed);
  work.peak_vertices = std::max(work.peak_vertices, needed);
  if (needed >= work.vertices.capacity()) {
    work.vertices.reserve(capacity_for(needed, work) + 1, size);
  }
  if (static_cast<std::int64_t>(needed) <= work.table.max_members) {
    return false;
  }
  clear_table_with(work.table, static_cast<std::int64_t>(capacity_for(needed, work)));
  SlotTableView numbering = table_view(work);
  numbering.size = 0;
  for (std::size_t i = 0; i < size; ++i) {
    numbering.find_or_add(work.vertices[i], numbering.home_of(work.vertices[i]));
  }
  return true;
}

inline void end_batch_with(Workspace& work) {
  if (work.peak_vertices > work.capacity) {
    work.capacity = capacity_for(work.peak_vertices, work);
    work.vertices.reserve(work.capacity + 1, static_cast<std::size_t>(work.size));
    work.table.slots.reserve((buckets_for(static_cast<std::int64_t>(work.capacity)) + 1) * bucket_slots, 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
