#include "runtime/macro/macro_build.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

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
  ids_.count();  // finds the ranks
  for (const Part& part : parts) {
    parts_.push_back({part, ids_.rank(part.begin), hubs.first_from(part.begin), hubs.first_from(part.end)});
  }
  for (const VertexId hub : hubs.vertices) {
    local_hubs_.push_back(static_cast<std::uint32_t>(ids_.rank(hub)));
  }
  arrays_.vertices = ids_.members();
  arrays_.indptr.push_back(0);
}

void MacroBuild::add_list(const graph::Indices& neighbours) {
  std::uint32_t* to = arrays_.indices.data() + arrays_.indptr.back();
  neighbours.visit([&](auto stored) {
    for (const auto neighbour : stored) {
      if (ids_.contains(static_cast<VertexId>(neighbour))) {
        *to++ = static_cast<std::uint32_t>(ids_.rank(static_cast<VertexId>(neighbour)));
      }
    }
  });
  end_list(to, neighbours.size());
}

/// add_list() of an ascending list, given which hubs it has: visits no entries but those that are in the
/// macro-batch.
void MacroBuild::add_ascending_list(const graph::Indices& neighbours, std::span<const std::uint32_t> hubs) {
  std::uint32_t* to = arrays_.indices.data() + arrays_.indptr.back();
  auto hub = hubs.begin();
  const auto add_hubs_below = [&](std::uint32_t end) {
    for (; hub != hubs.end() && *hub < end; ++hub) {
      *to++ = local_hubs_[*hub];
    }
  };
  neighbours.visit([&](auto stored) {
    const auto below = [](auto entry, VertexId bound) { return static_cast<VertexId>(entry) < bound; };
    auto next = stored.begin();
    for (const auto& [part, local, first_hub, end_hub] : parts_) {
      add_hubs_below(first_hub);
      next = std::lower_bound(next, stored.end(), part.begin, below);
      for (; next != stored.end() && static_cast<VertexId>(*next) < part.end; ++next) {
        *to++ = static_cast<std::uint32_t>(local + static_cast<VertexId>(*next) - part.begin);
      }
      hub = std::lower_bound(hub, hubs.end(), end_hub);
    }
  });
  add_hubs_below(std::numeric_limits<std::uint32_t>::max());
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
