// Samples a hop with several threads, for one instruction set; included by hop.cpp only.
#if defined(GNOMON_KERNELS_CPU_SPLIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_SPLIT_INL_H_
#undef GNOMON_KERNELS_CPU_SPLIT_INL_H_
#else
#define GNOMON_KERNELS_CPU_SPLIT_INL_H_
#endif

#include <algorithm>
#include <array>

#include "hwy/highway.h"
#include "kernels/cpu/sample/hop-inl.h"
#include "kernels/cpu/sample/split.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

/// Reads the neighbours of the first `count` edges in the queue and sends each to the part that owns it.
template <class Index>
HWY_ATTR void send_neighbours(const EdgeQueue& queue, const Index* indices, std::size_t count, Part& part) {
  const auto parts = static_cast<std::uint32_t>(part.messages.size());
  std::array<std::uint32_t*, max_parts> ends;
  for (std::uint32_t p = 0; p < parts; ++p) {
    IdMessage& message = part.messages[p];
    message.ids.ensure_capacity(message.size + count + slot_prefetch_distance, message.size);
    ends[p] = message.ids.data() + message.size;
  }
  part.owners.ensure_capacity(part.drawn + count, part.drawn);
  std::uint8_t* owners = part.owners.data() + part.drawn;
  const std::uint64_t* edges = queue.edges();
  for (std::size_t e = 0; e < count; ++e) {
    prefetch_far(indices + edges[e + neighbour_prefetch_distance]);
    const auto id = static_cast<std::uint32_t>(indices[edges[e]]);
    const std::uint32_t owner = owner_of(id, parts);
    owners[e] = static_cast<std::uint8_t>(owner);
    *ends[owner]++ = id;
  }
  for (std::uint32_t p = 0; p < parts; ++p) {
    part.messages[p].size = static_cast<std::size_t>(ends[p] - part.messages[p].ids.data());
  }
}

template <class Index>
HWY_ATTR void draw_part_of(const HopRequest& hop, const Index* indices,
                           const HugeArray<std::uint32_t>& vertices, Part& part, std::int64_t* ends) {
  clear_messages(part, part.messages.size());
  EdgeDrawer drawer(hop, part.work, vertices, part.destinations, ends);
  EdgeQueue queue(part.work, drawer.max_edges());
  // NOLINTNEXTLINE(bugprone-infinite-loop): count is declared anew in each round.
  for (bool is_first = true; const std::size_t count = queue.fill(drawer); is_first = false) {
    for (std::size_t e = 0; is_first && e < neighbour_prefetch_distance; ++e) {
      prefetch_far(indices + queue.edges()[e]);
    }
    send_neighbours(queue, indices, count, part);
    if (hop.edge_ids) {
      part.edges.ensure_capacity(part.drawn + count, part.drawn);
      std::copy_n(queue.edges(), count, part.edges.data() + part.drawn);
    }
    part.drawn += count;
    queue.pop(count);
  }
}

inline void draw_part_with(const HopRequest& hop, const HugeArray<std::uint32_t>& vertices, Part& part,
                           std::int64_t* ends) {
  with_indices(*hop.topology, [&](const auto* indices) { draw_part_of(hop, indices, vertices, part, ends); });
}

/// Replaces the ids in a message by their codes (see number_part).
HWY_ATTR inline void number_message(Workspace& work, IdMessage& message) {
  const std::int64_t before = work.size;
  for (std::size_t begin = 0; begin < message.size; begin += chunk_edges) {
    const std::size_t count = std::min<std::size_t>(chunk_edges, message.size - begin);
    ensure_capacity(work, count);
    SlotTableView table = table_view(work);
    std::uint32_t* ids = message.ids.data() + begin;
    for (std::size_t e = 0; e < slot_prefetch_distance; ++e) {
      table.prefetch(table.home_of(ids[e]));
    }
    for (std::size_t e = 0; e < count; ++e) {
      table.prefetch(table.home_of(
          ids[e + slot_prefetch_distance]));  // may read beyond the last id, but not beyond the buffer
      const std::uint64_t before_it = table.size;
      const std::uint32_t number = table.find_or_add(ids[e], table.home_of(ids[e]));
      ids[e] = 2 * number + static_cast<std::uint32_t>(table.size - before_it);
    }
    work.size = static_cast<std::int64_t>(table.size);
  }
  message.added = static_cast<std::size_t>(work.size - before);
}

inline void number_part_with(std::span<Part> parts, std::size_t own) {
  Part& part = parts[own];
  const auto known = static_cast<std::size_t>(part.work.size);
  for (Part& sender : parts) {
    number_message(part.work, sender.messages[own]);
  }
  part.locals.reserve(part.work.vertices.capacity(), known);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
