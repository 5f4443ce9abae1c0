// A hop shared by several threads, for one instruction set; included by hop.cpp only.
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

/// Reads the neighbours of the first `count` edges that wait and deals them out.
template <class Index>
HWY_ATTR void deal_neighbours(const Waiting& waiting, const Index* indices, std::size_t count, Part& part) {
  const auto parts = static_cast<std::uint32_t>(part.dealt.size());
  std::array<std::uint32_t*, most_parts> ends;
  for (std::uint32_t p = 0; p < parts; ++p) {
    Dealt& dealt = part.dealt[p];
    dealt.ids.make_room(dealt.size + count + near_ahead, dealt.size);
    ends[p] = dealt.ids.data() + dealt.size;
  }
  part.owners.make_room(part.drawn + count, part.drawn);
  std::uint8_t* owners = part.owners.data() + part.drawn;
  const std::uint64_t* edges = waiting.edges();
  for (std::size_t e = 0; e < count; ++e) {
    prefetch_far(indices + edges[e + far_ahead]);
    const auto id = static_cast<std::uint32_t>(indices[edges[e]]);
    const std::uint32_t owner = owner_of(id, parts);
    owners[e] = static_cast<std::uint8_t>(owner);
    *ends[owner]++ = id;
  }
  for (std::uint32_t p = 0; p < parts; ++p) {
    part.dealt[p].size = static_cast<std::size_t>(ends[p] - part.dealt[p].ids.data());
  }
}

template <class Index>
HWY_ATTR void draw_part_of(const Hop& hop, const Index* indices, const HugeArray<std::uint32_t>& vertices,
                           Part& part, std::int64_t* ends) {
  begin_dealing(part, part.dealt.size());
  Drawing drawing(hop, part.work, vertices, part.destinations, ends);
  Waiting waiting(part.work, drawing.most_edges());
  for (bool is_first = true; const std::size_t count = waiting.fill(drawing); is_first = false) {
    for (std::size_t e = 0; is_first && e < far_ahead; ++e) {
      prefetch_far(indices + waiting.edges()[e]);
    }
    deal_neighbours(waiting, indices, count, part);
    if (hop.edge_ids) {
      part.edges.make_room(part.drawn + count, part.drawn);
      std::copy_n(waiting.edges(), count, part.edges.data() + part.drawn);
    }
    part.drawn += count;
    waiting.drop(count);
  }
}

inline void draw_part_with(const Hop& hop, const HugeArray<std::uint32_t>& vertices, Part& part,
                           std::int64_t* ends) {
  with_indices(*hop.topology, [&](const auto* indices) { draw_part_of(hop, indices, vertices, part, ends); });
}

/// Replaces ids by codes.
HWY_ATTR inline void number_dealt(Workspace& work, Dealt& dealt) {
  const std::int64_t before = work.size;
  for (std::size_t begin = 0; begin < dealt.size; begin += chunk_edges) {
    const std::size_t count = std::min<std::size_t>(chunk_edges, dealt.size - begin);
    make_room(work, count);
    Numbering table = numbering_of(work);
    std::uint32_t* ids = dealt.ids.data() + begin;
    for (std::size_t e = 0; e < near_ahead; ++e) {
      table.prefetch(table.home_of(ids[e]));
    }
    for (std::size_t e = 0; e < count; ++e) {
      table.prefetch(table.home_of(ids[e + near_ahead]));  // what lies behind the last is some id, or none
      const std::uint64_t before_it = table.size;
      const std::uint32_t number = table.find_or_add(ids[e], table.home_of(ids[e]));
      ids[e] = 2 * number + static_cast<std::uint32_t>(table.size - before_it);
    }
    work.size = static_cast<std::int64_t>(table.size);
  }
  dealt.added = static_cast<std::size_t>(work.size - before);
}

inline void number_part_with(std::span<Part> parts, std::size_t own) {
  Part& part = parts[own];
  const auto named = static_cast<std::size_t>(part.work.size);
  for (Part& drawer : parts) {
    number_dealt(part.work, drawer.dealt[own]);
  }
  part.locals.reserve(part.work.vertices.capacity(), named);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
