#include "runtime/macro/resident_hubs.h"

#include <algorithm>

#include "base/index.h"

namespace gnomon::runtime {

using base::at;
using graph::VertexId;

base::RankedBits set_of(std::span<const VertexId> vertices, std::int64_t num_vertices) {
  base::RankedBits set(num_vertices);
  for (const VertexId vertex : vertices) {
    set.add(vertex);
  }
  set.count();  // finds the ranks
  return set;
}

void ResidentHubs::find_hub_entries(std::int64_t num_vertices) {
  const auto hubs = set_of(vertices, num_vertices);
  ascends = true;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    list(i).visit([&](auto stored) {
      ascends = ascends && std::is_sorted(stored.begin(), stored.end());
      for (const auto entry : stored) {
        const auto vertex = static_cast<VertexId>(entry);
        if (hubs.contains(vertex)) {
          hub_entries.push_back(static_cast<std::uint32_t>(hubs.rank(vertex)));
        }
      }
    });
    hub_indptr.push_back(std::ssize(hub_entries));
  }
  if (!ascends) {
    hub_indptr = {0};
    hub_entries = {};
  }
}

graph::Indices ResidentHubs::list(std::size_t hub) const {
  return lists.view().subspan(at(indptr[hub]), at(indptr[hub + 1] - indptr[hub]));
}

std::span<const std::uint32_t> ResidentHubs::hubs_in_list(std::size_t hub) const {
  return std::span(hub_entries).subspan(at(hub_indptr[hub]), at(hub_indptr[hub + 1] - hub_indptr[hub]));
}

std::uint32_t ResidentHubs::first_from(VertexId vertex) const {
  return static_cast<std::uint32_t>(std::lower_bound(vertices.begin(), vertices.end(), vertex) -
                                    vertices.begin());
}

std::int64_t ResidentHubs::bytes() const {
  return static_cast<std::int64_t>(features.size() + vertices.size() * sizeof(VertexId) +
                                   (indptr.size() + hub_indptr.size()) * sizeof(std::int64_t) +
                                   hub_entries.size() * sizeof(std::uint32_t)) +
         lists.bytes();
}

}  // namespace gnomon::runtime
