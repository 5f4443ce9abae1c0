#include "runtime/macro/disk_parts.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "graph/partition/hubs.h"
#include "runtime/macro/parts_of_plan.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

std::uint64_t bytes_of(std::int64_t elements, std::uint64_t each) {
  return static_cast<std::uint64_t>(elements) * each;
}

}  // namespace

struct DiskParts::Build {
  explicit Build(std::int64_t vertices) : ids(vertices) {}

  base::RankedBits ids;  ///< of the macro-batch
  MacroArrays arrays;
  std::size_t next_hub = 0;
  std::vector<Range> ranges;        ///< of its parts
  std::vector<std::byte*> to_rows;  ///< where the features of each range go

  /// Adds the next vertex and those of its neighbours that are in the macro-batch.
  void add_list(const graph::Indices& neighbours) {
    std::uint32_t* const begin = arrays.indices.data();
    std::uint32_t* to = begin + arrays.indptr.back();
    neighbours.visit([&](auto stored) {
      for (const auto neighbour : stored) {
        if (ids.contains(static_cast<VertexId>(neighbour))) {
          *to++ = static_cast<std::uint32_t>(ids.rank(static_cast<VertexId>(neighbour)));
        }
      }
    });
    arrays.indptr.push_back(to - begin);
    arrays.whole_degrees.push_back(static_cast<std::int64_t>(neighbours.size()));
  }
};

DiskParts::DiskParts(const graph::Graph& graph, plan::Job job, plan::Plan plan)
    : graph_(graph),
      job_(std::move(job)),
      plan_(std::move(plan)),
      row_bytes_(static_cast<std::uint64_t>(graph.features.row_bytes())),
      arrays_{Array{open_array(graph, "indptr.npy", graph.indptr.size_bytes()), sizeof(std::int64_t)},
              Array{open_array(graph, "indices.npy", graph.indices.bytes().size()),
                    graph.indices.is_narrow() ? sizeof(std::uint32_t) : sizeof(VertexId)},
              Array{open_array(graph, "features.npy", static_cast<std::uint64_t>(graph.features.bytes())),
                    row_bytes_}},
      reader_({arrays_[row_pointers].file, arrays_[lists].file, arrays_[features].file}) {}

DiskParts::Range DiskParts::range_of(std::int32_t part) const {
  return {graph_.parts->bounds[at(part)], graph_.parts->bounds[at(part) + 1]};
}

DiskParts::Range DiskParts::edges_of(Range vertices) const {
  return {graph_.indptr[at(vertices.begin)], graph_.indptr[at(vertices.end)]};
}

std::int64_t DiskParts::num_hubs() const {
  return graph::num_hubs(plan_.macro.hub_ratio, graph_.num_vertices());
}

std::vector<MacroGroup> DiskParts::groups(std::int64_t epoch) const {
  const auto bounds = graph_.parts->bounds;
  return groups_of_parts(plan_.macro, job_.seed, epoch, graph_.train, [&](VertexId vertex) {
    return static_cast<std::int32_t>(std::upper_bound(bounds.begin(), bounds.end(), vertex) - bounds.begin() -
                                     1);
  });
}

void DiskParts::read(File file, std::span<const Range> ranges, std::span<std::byte* const> to) {
  const Array& array = arrays_[file];
  std::vector<Extent> extents;
  std::vector<std::byte*> places;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].end > ranges[i].begin) {
      extents.push_back({array.first_byte + bytes_of(ranges[i].begin, array.element_bytes),
                         bytes_of(ranges[i].end - ranges[i].begin, array.element_bytes)});
      places.push_back(to[i]);
    }
  }
  reader_.read(file, extents, [&](std::size_t extent, std::uint64_t from, std::span<const std::byte> bytes) {
    std::memcpy(places[extent] + from, bytes.data(), bytes.size());
  });
}

std::vector<std::int64_t> DiskParts::read_row_pointers(Range vertices) {
  std::vector<std::int64_t> pointers(at(vertices.end - vertices.begin) + 1);
  const Range range{vertices.begin, vertices.end + 1};
  auto* const to = reinterpret_cast<std::byte*>(pointers.data());
  read(row_pointers, {&range, 1}, {&to, 1});
  return pointers;
}

DiskParts::Lists DiskParts::read_lists(std::span<const Range> edges) {
  const std::uint64_t index_bytes = arrays_[lists].element_bytes;
  std::vector<std::uint64_t> places;
  std::uint64_t bytes = 0;
  for (const Range& range : edges) {
    places.push_back(bytes);
    bytes += bytes_of(range.end - range.begin, index_bytes);
  }
  Lists stored;
  std::byte* begin = nullptr;
  if (index_bytes == sizeof(VertexId)) {
    stored.wide.resize(bytes / index_bytes);
    begin = reinterpret_cast<std::byte*>(stored.wide.data());
  } else {
    stored.narrow.resize(bytes / index_bytes);
    begin = reinterpret_cast<std::byte*>(stored.narrow.data());
  }
  std::vector<std::byte*> to(places.size());
  std::transform(places.begin(), places.end(), to.begin(),
                 [begin](std::uint64_t place) { return begin + place; });
  read(lists, edges, to);
  return stored;
}

/// Reads the lists and features of the hubs, which stay in memory.
void DiskParts::read_hubs() {
  has_hubs_ = true;
  const auto count = at(num_hubs());
  if (count == 0) {
    return;
  }
  const auto chosen = graph_.parts->hubs.first(count);
  hubs_.vertices.assign(chosen.begin(), chosen.end());
  std::sort(hubs_.vertices.begin(), hubs_.vertices.end());
  hubs_.features.resize(count * row_bytes_);
  std::vector<Range> rows, edges;
  std::vector<std::byte*> to;
  for (std::size_t i = 0; i < count; ++i) {
    const VertexId hub = hubs_.vertices[i];
    rows.push_back({hub, hub + 1});
    edges.push_back({graph_.indptr[at(hub)], graph_.indptr[at(hub) + 1]});
    hubs_.indptr.push_back(hubs_.indptr.back() + graph_.degree(hub));
    to.push_back(hubs_.features.data() + i * row_bytes_);
  }
  hubs_.lists = read_lists(edges);
  read(features, rows, to);
}

/// Adds the hubs below `end` that are in none of the parts added so far.
void DiskParts::add_hubs(Build& build, VertexId end) const {
  for (; build.next_hub < hubs_.vertices.size() && hubs_.vertices[build.next_hub] < end; ++build.next_hub) {
    const std::size_t hub = build.next_hub;
    const auto row = static_cast<std::uint64_t>(std::ssize(build.arrays.whole_degrees)) * row_bytes_;
    std::memcpy(build.arrays.features.data.data() + row, hubs_.features.data() + hub * row_bytes_,
                row_bytes_);
    build.add_list(
        hubs_.lists.view().subspan(at(hubs_.indptr[hub]), at(hubs_.indptr[hub + 1] - hubs_.indptr[hub])));
  }
}

void DiskParts::add_part(Build& build, Range range) {
  add_hubs(build, range.begin);
  const auto row = static_cast<std::uint64_t>(std::ssize(build.arrays.whole_degrees)) * row_bytes_;
  build.ranges.push_back(range);
  build.to_rows.push_back(build.arrays.features.data.data() + row);
  const auto pointers = read_row_pointers(range);
  const Range edges{pointers.front(), pointers.back()};
  const auto stored = read_lists({&edges, 1});
  for (std::size_t i = 0; i + 1 < pointers.size(); ++i) {
    build.add_list(stored.view().subspan(at(pointers[i] - edges.begin), at(pointers[i + 1] - pointers[i])));
  }
  while (build.next_hub < hubs_.vertices.size() && hubs_.vertices[build.next_hub] < range.end) {
    ++build.next_hub;  // in this part
  }
}

std::shared_ptr<MacroBatch> DiskParts::load(const MacroLayout& layout, std::int64_t group, std::int64_t) {
  if (!has_hubs_) {
    read_hubs();
  }
  const auto& members = layout.group(group);
  Build build(graph_.num_vertices());
  std::int64_t edges = 0;
  for (const auto part : members.parts) {
    const Range range = range_of(part);
    build.ids.add_range(range.begin, range.end);
    edges += edges_of(range).size();
  }
  for (const VertexId hub : hubs_.vertices) {
    build.ids.add(hub);
  }
  const auto vertices = at(build.ids.count());
  MacroArrays& arrays = build.arrays;
  arrays.vertices = build.ids.members();
  arrays.indptr.reserve(vertices + 1);
  arrays.indptr.push_back(0);
  arrays.whole_degrees.reserve(vertices);
  // Pages that are never written take no memory.
  arrays.indices.reserve(at(edges + hubs_.indptr.back()), 0);
  arrays.features.form = graph_.features;
  arrays.features.data.reserve(vertices * row_bytes_, 0);
  for (const auto part : members.parts) {
    add_part(build, range_of(part));
  }
  add_hubs(build, graph_.num_vertices());
  read(features, build.ranges, build.to_rows);
  return std::make_shared<MacroBatch>(graph_, std::move(arrays), members.train, plan_.workers);
}

MacroBytes DiskParts::max_bytes() const {
  const auto each = MacroBatch::bytes_of(static_cast<std::int64_t>(row_bytes_));
  const auto index_bytes = static_cast<std::int64_t>(arrays_[lists].element_bytes);
  std::vector<std::int64_t> parts;
  MacroBytes most;
  for (std::int32_t part = 0; part < plan_.macro.partitions; ++part) {
    const Range range = range_of(part);
    const std::int64_t edges = edges_of(range).size();
    parts.push_back(range.size() * each.vertex + edges * each.edge);
    const auto pointers = (range.size() + 1) * static_cast<std::int64_t>(sizeof(std::int64_t));
    most.loading = std::max(most.loading, edges * index_bytes + pointers);
  }
  const auto resident = parts.begin() + std::min(plan_.macro.resident, plan_.macro.partitions);
  std::partial_sort(parts.begin(), resident, parts.end(), std::greater<>());
  most.batch = std::accumulate(parts.begin(), resident, std::int64_t{0});
  most.batch += std::ssize(graph_.train) * each.train_vertex + std::int64_t{sizeof(std::int64_t)};
  std::int64_t hubs_bytes = 0;
  for (const VertexId hub : graph_.parts->hubs.first(at(num_hubs()))) {
    const std::int64_t edges = graph_.degree(hub);
    most.batch += each.vertex + edges * each.edge;
    hubs_bytes += each.vertex + edges * index_bytes;
  }
  most.loading += base::RankedBits::bytes_of(graph_.num_vertices()) + (has_hubs_ ? 0 : hubs_bytes);
  return most;
}

ReadCounts DiskParts::take_reads() {
  const ReadCounts all = reader_.counts();
  return all - std::exchange(taken_, all);
}

std::int64_t DiskParts::bytes() const {
  return static_cast<std::int64_t>(hubs_.features.size() + hubs_.vertices.size() * sizeof(VertexId) +
                                   hubs_.indptr.size() * sizeof(std::int64_t)) +
         hubs_.lists.bytes() + BlockReader::bytes_of({});
}

}  // namespace gnomon::runtime
