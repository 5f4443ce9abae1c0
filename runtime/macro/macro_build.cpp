#include "runtime/macro/macro_build.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/member_ranks.h"

namespace gnomon::runtime {

using graph::VertexId;

MacroBuild::MacroBuild(std::int64_t num_vertices, std::uint64_t row_bytes, std::span<const Part> parts,
                       const ResidentHubs& hubs, MacroArrays memory)
    : row_bytes_(row_bytes), hubs_(hubs), ids_(num_vertices), arrays_(std::move(memory)) {
  for (const Part& part : parts) {
    ids_.add_range(part.begin, part.end);
  }
  for (const VertexId hub : hubs.vertices) {
    ids_.add(hub);
  }
  ids_.count();             // finds the ranks
  std::int64_t others = 0;  // vertices of parts before that are no hubs
  for (const Part& part : parts) {
    const PlacedPart placed{.part = part,
                            .local = ids_.rank(part.begin),
                            .hub_shift = static_cast<std::uint32_t>(others),
                            .first_hub = hubs.first_from(part.begin),
                            .end_hub = hubs.first_from(part.end)};
    others += part.end - part.begin - (placed.end_hub - placed.first_hub);
    parts_.push_back(placed);
  }
  last_hub_shift_ = static_cast<std::uint32_t>(others);
  arrays_.vertices = ids_.members();
  arrays_.indptr.push_back(0);
}

void MacroBuild::add_list(const graph::Indices& neighbours) {
  std::uint32_t* to = arrays_.indices.data() + arrays_.indptr.back();
  neighbours.visit([&](auto stored) {
    if constexpr (sizeof(stored[0]) == sizeof(*to)) {
      to += kernels::cpu::member_ranks(stored, ids_, to);
    } else {
      for (const auto neighbour : stored) {
        if (ids_.contains(static_cast<VertexId>(neighbour))) {
          *to++ = static_cast<std::uint32_t>(ids_.rank(static_cast<VertexId>(neighbour)));
        }
      }
    }
  });
  end_list(to, neighbours.size());
}

/// add_list() of an ascending list, given which hubs it has: visits no entries but those that are in the
/// macro-batch. What lies together there, the vertices of a part and the hubs between two of them, differs
/// from its place in the macro-batch by a constant.
void MacroBuild::add_ascending_list(const graph::Indices& neighbours, std::span<const std::uint32_t> hubs) {
  std::uint32_t* to = arrays_.indices.data() + arrays_.indptr.back();
  auto hub = hubs.begin();
  const auto add_hubs_until = [&](auto end, std::uint32_t shift) {
    to = std::transform(hub, end, to, [shift](std::uint32_t number) { return number + shift; });
    hub = end;
  };
  neighbours.visit([&](auto stored) {
    const auto below = [](auto entry, VertexId bound) { return static_cast<VertexId>(entry) < bound; };
    auto next = stored.begin();
    for (const PlacedPart& placed : parts_) {
      add_hubs_until(std::lower_bound(hub, hubs.end(), placed.first_hub), placed.hub_shift);
      next = std::lower_bound(next, stored.end(), placed.part.begin, below);
      const auto end = std::lower_bound(next, stored.end(), placed.part.end, below);
      const auto shift = static_cast<std::uint32_t>(placed.local - placed.part.begin);  // modulo 2^32
      to = std::transform(next, end, to,
                          [shift](auto entry) { return static_cast<std::uint32_t>(entry) + shift; });
      next = end;
      hub = std::lower_bound(hub, hubs.end(), placed.end_hub);
    }
  });
  add_hubs_until(hubs.end(), last_hub_shift_);
  end_list(to, neighbours.size());
}

void MacroBuild::end_list(const std::uint32_t* end, std::size_t degree) {
  arrays_.indptr.push_back(end - arrays_.indices.data());
  arrays_.whole_degrees.push_back(static_cast<std::int64_t>(degree));
}

void MacroBuild::add_hubs(VertexId end) {
  for (const auto first_beyond = hubs_.first_from(end); next_hub_ < first_beyond; ++next_hub_) {
    std::memcpy(row(std::ssize(arrays_.whole_degrees)), hubs_.features.data() + next_hub_ * row_bytes_,
                row_bytes_);
    if (hubs_.ascends) {
      add_ascending_list(hubs_.list(next_hub_), hubs_.hubs_in_list(next_hub_));
    } else {
      add_list(hubs_.list(next_hub_));
    }
  }
}

void MacroBuild::skip_hubs(VertexId end) { next_hub_ = std::max(next_hub_, hubs_.first_from(end)); }

}  // namespace gnomon::runtime
