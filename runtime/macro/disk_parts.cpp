#include "runtime/macro/disk_parts.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <limits>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "base/process_memory.h"
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

void DiskParts::SpareArrays::put(MacroArrays arrays) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(arrays));
}

MacroArrays DiskParts::SpareArrays::take() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) {
    return {};
  }
  MacroArrays arrays = std::move(spare_.back());
  spare_.pop_back();
  arrays.indptr.clear();
  arrays.whole_degrees.clear();
  return arrays;
}

struct DiskParts::Build {
  Build(std::int64_t vertices, MacroArrays memory) : ids(vertices), arrays(std::move(memory)) {}

  base::RankedBits ids;  ///< of the macro-batch
  MacroArrays arrays;
  std::size_t next_hub = 0;
  /// A part's vertices, their first local id, and the hubs among them.
  struct PlacedRange {
    VertexId begin = 0, end = 0, local = 0;
    std::uint32_t first_hub = 0, end_hub = 0;
  };
  std::vector<PlacedRange> ranges;        ///< of its parts, ascending
  std::vector<std::uint32_t> local_hubs;  ///< local id of each hub

  std::byte* row(std::int64_t local, std::uint64_t row_bytes) {
    return arrays.features.data.data() + bytes_of(local, row_bytes);
  }

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

  /// The same of an ascending list, given which of its entries are which hubs: visits no others than those
  /// that are in the macro-batch.
  void add_ascending_list(const graph::Indices& neighbours, std::span<const std::uint32_t> hubs) {
    std::uint32_t* const begin = arrays.indices.data();
    std::uint32_t* to = begin + arrays.indptr.back();
    auto hub = hubs.begin();
    const auto add_hubs_below = [&](std::uint32_t end) {
      for (; hub != hubs.end() && *hub < end; ++hub) {
        *to++ = local_hubs[*hub];
      }
    };
    neighbours.visit([&](auto stored) {
      const auto below = [](auto entry, VertexId bound) { return static_cast<VertexId>(entry) < bound; };
      auto next = stored.begin();
      for (const PlacedRange& range : ranges) {
        add_hubs_below(range.first_hub);
        next = std::lower_bound(next, stored.end(), range.begin, below);
        for (; next != stored.end() && static_cast<VertexId>(*next) < range.end; ++next) {
          *to++ = static_cast<std::uint32_t>(range.local + static_cast<VertexId>(*next) - range.begin);
        }
        hub = std::lower_bound(hub, hubs.end(), range.end_hub);
      }
    });
    add_hubs_below(std::numeric_limits<std::uint32_t>::max());
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
      reader_({arrays_[row_pointers].file, arrays_[lists].file, arrays_[features].file}),
      room_(largest_macro_batch()) {}

DiskParts::Room DiskParts::largest_macro_batch() const {
  std::vector<std::int64_t> vertices, edges;
  for (std::int32_t part = 0; part < plan_.macro.partitions; ++part) {
    const Range range = range_of(part);
    vertices.push_back(range.size());
    edges.push_back(edges_of(range).size());
  }
  const auto most = [&](std::vector<std::int64_t>& of_parts) {
    const auto resident = of_parts.begin() + std::min(plan_.macro.resident, plan_.macro.partitions);
    std::partial_sort(of_parts.begin(), resident, of_parts.end(), std::greater<>());
    return std::accumulate(of_parts.begin(), resident, std::int64_t{0});
  };
  return {most(vertices) + num_hubs(), most(edges)};
}

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

std::byte* DiskParts::Lists::resize(std::size_t count, std::uint64_t index_bytes) {
  memory_.reserve(count * index_bytes, 0);
  count_ = count;
  is_wide_ = index_bytes == sizeof(VertexId);
  return memory_.data();
}

graph::Indices DiskParts::Lists::view() const {
  if (is_wide_) {
    return graph::Indices(std::span(reinterpret_cast<const VertexId*>(memory_.data()), count_));
  }
  return graph::Indices(std::span(reinterpret_cast<const std::uint32_t*>(memory_.data()), count_));
}

void DiskParts::read_lists(std::span<const Range> edges, Lists& to) {
  const std::uint64_t index_bytes = arrays_[lists].element_bytes;
  std::int64_t count = 0;
  for (const Range& range : edges) {
    count += range.size();
  }
  std::byte* next = to.resize(at(count), index_bytes);
  std::vector<std::byte*> places;
  for (const Range& range : edges) {
    places.push_back(next);
    next += bytes_of(range.size(), index_bytes);
  }
  read(lists, edges, places);
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
  read_lists(edges, hubs_.lists);
  read(features, rows, to);
  find_hub_entries();
}

void DiskParts::find_hub_entries() {
  base::RankedBits is_hub(graph_.num_vertices());
  for (const VertexId hub : hubs_.vertices) {
    is_hub.add(hub);
  }
  is_hub.count();  // finds the ranks
  hubs_.ascends = true;
  for (std::size_t i = 0; i < hubs_.vertices.size(); ++i) {
    hubs_.list(i).visit([&](auto stored) {
      hubs_.ascends = hubs_.ascends && std::is_sorted(stored.begin(), stored.end());
      for (const auto entry : stored) {
        if (is_hub.contains(static_cast<VertexId>(entry))) {
          hubs_.hub_entries.push_back(static_cast<std::uint32_t>(is_hub.rank(static_cast<VertexId>(entry))));
        }
      }
    });
    hubs_.hub_indptr.push_back(std::ssize(hubs_.hub_entries));
  }
  if (!hubs_.ascends) {
    hubs_.hub_indptr = {0};
    hubs_.hub_entries = {};
  }
}

/// Adds the hubs below `end` that are in none of the parts added so far.
void DiskParts::add_hubs(Build& build, VertexId end) const {
  for (; build.next_hub < hubs_.vertices.size() && hubs_.vertices[build.next_hub] < end; ++build.next_hub) {
    const std::size_t hub = build.next_hub;
    const auto row = static_cast<std::uint64_t>(std::ssize(build.arrays.whole_degrees)) * row_bytes_;
    std::memcpy(build.arrays.features.data.data() + row, hubs_.features.data() + hub * row_bytes_,
                row_bytes_);
    if (hubs_.ascends) {
      build.add_ascending_list(hubs_.list(hub), hubs_.hubs_of(hub));
    } else {
      build.add_list(hubs_.list(hub));
    }
  }
}

DiskParts::PartLists DiskParts::read_part(Range range, Lists& memory) {
  PartLists part{range, read_row_pointers(range), &memory};
  const Range edges{part.pointers.front(), part.pointers.back()};
  read_lists({&edges, 1}, memory);
  return part;
}

/// Adds the lists of a part, and the hubs before it.
void DiskParts::add_part(Build& build, const PartLists& part) const {
  const auto& pointers = part.pointers;
  add_hubs(build, part.range.begin);
  for (std::size_t i = 0; i + 1 < pointers.size(); ++i) {
    build.add_list(
        part.lists->view().subspan(at(pointers[i] - pointers.front()), at(pointers[i + 1] - pointers[i])));
  }
  while (build.next_hub < hubs_.vertices.size() && hubs_.vertices[build.next_hub] < part.range.end) {
    ++build.next_hub;  // in this part
  }
}

/// Adds the lists of one part while its features and the next part's lists are read.
void DiskParts::read_parts(Build& build, std::span<const std::int32_t> parts) {
  std::future<void> adding;
  for (const auto& number : parts) {
    Lists& memory = part_lists_.at(at(&number - parts.data()) % part_lists_.size());
    auto part = read_part(range_of(number), memory);
    const Range range = part.range;
    if (adding.valid()) {
      adding.get();
    }
    const bool is_last = &number == &parts.back();
    adding = std::async(std::launch::async, [this, &build, is_last, added = std::move(part)] {
      add_part(build, added);
      if (is_last) {
        add_hubs(build, graph_.num_vertices());
      }
    });
    auto* const to = build.row(build.ids.rank(range.begin), row_bytes_);
    read(features, {&range, 1}, {&to, 1});
  }
  adding.get();
}

void DiskParts::place_hubs(Build& build, std::span<const std::int32_t> parts) const {
  const auto& hubs = hubs_.vertices;
  const auto first_from = [&hubs](VertexId vertex) {
    return static_cast<std::uint32_t>(std::lower_bound(hubs.begin(), hubs.end(), vertex) - hubs.begin());
  };
  for (const auto part : parts) {
    const Range range = range_of(part);
    build.ranges.push_back({range.begin, range.end, build.ids.rank(range.begin), first_from(range.begin),
                            first_from(range.end)});
  }
  for (const VertexId hub : hubs) {
    build.local_hubs.push_back(static_cast<std::uint32_t>(build.ids.rank(hub)));
  }
}

std::shared_ptr<MacroBatch> DiskParts::load(const MacroLayout& layout, std::int64_t group, std::int64_t) {
  if (!has_hubs_) {
    read_hubs();
  }
  const auto& members = layout.group(group);
  Build build(graph_.num_vertices(), spare_->take());
  for (const auto part : members.parts) {
    const Range range = range_of(part);
    build.ids.add_range(range.begin, range.end);
  }
  for (const VertexId hub : hubs_.vertices) {
    build.ids.add(hub);
  }
  const auto vertices = at(build.ids.count());  // finds the ranks
  place_hubs(build, members.parts);
  MacroArrays& arrays = build.arrays;
  arrays.vertices = build.ids.members();
  arrays.indptr.reserve(vertices + 1);
  arrays.indptr.push_back(0);
  arrays.whole_degrees.reserve(vertices);
  // Pages that are never written take no memory.
  arrays.indices.reserve(at(room_.edges + hubs_.indptr.back()), 0);
  arrays.features.form = graph_.features;
  arrays.features.data.reserve(at(room_.vertices) * row_bytes_, 0);
  read_parts(build, members.parts);
  return std::make_shared<MacroBatch>(graph_, std::move(arrays), members.train, plan_.workers,
                                      [spare = spare_](MacroArrays ended) { spare->put(std::move(ended)); });
}

const DiskParts::HubEntries& DiskParts::hub_entries() const {
  if (!hub_entries_) {
    hub_entries_ = count_hub_entries();
  }
  return *hub_entries_;
}

/// Counts the entries of the hubs' lists by the part of their sources, and those whose sources are hubs.
DiskParts::HubEntries DiskParts::count_hub_entries() const {
  HubEntries entries;
  entries.of_parts.resize(at(plan_.macro.partitions), 0);
  const auto hubs = graph_.parts->hubs.first(at(num_hubs()));
  base::RankedBits is_hub(graph_.num_vertices());
  for (const VertexId hub : hubs) {
    is_hub.add(hub);
  }
  const auto bounds = graph_.parts->bounds;
  for (const VertexId hub : hubs) {
    graph_.indices.subspan(at(graph_.indptr[at(hub)]), at(graph_.degree(hub))).visit([&](auto sources) {
      for (const auto source : sources) {
        const auto vertex = static_cast<VertexId>(source);
        if (is_hub.contains(vertex)) {
          ++entries.of_hubs;
        } else {
          ++entries.of_parts[at(std::upper_bound(bounds.begin(), bounds.end(), vertex) - bounds.begin() - 1)];
        }
      }
    });
  }
  base::release_file_pages(graph_.indices.bytes());
  return entries;
}

MacroBytes DiskParts::max_bytes() const {
  const auto each = MacroBatch::bytes_of(static_cast<std::int64_t>(row_bytes_));
  const auto index_bytes = static_cast<std::int64_t>(arrays_[lists].element_bytes);
  const auto& from_hubs = hub_entries();
  std::vector<std::int64_t> parts, read;
  MacroBytes most;
  for (std::int32_t part = 0; part < plan_.macro.partitions; ++part) {
    const Range range = range_of(part);
    const std::int64_t edges = edges_of(range).size();
    parts.push_back(range.size() * each.vertex + (edges + from_hubs.of_parts[at(part)]) * each.edge);
    const auto pointers = (range.size() + 1) * static_cast<std::int64_t>(sizeof(std::int64_t));
    read.push_back(edges * index_bytes + pointers);
  }
  // Those of one part are added while the next part's are read.
  const auto at_once = read.begin() + std::min({plan_.macro.resident, plan_.macro.partitions, 2});
  std::partial_sort(read.begin(), at_once, read.end(), std::greater<>());
  const std::int64_t held = part_lists_[0].bytes() + part_lists_[1].bytes();
  most.loading = std::max<std::int64_t>(0, std::accumulate(read.begin(), at_once, std::int64_t{0}) - held);
  const auto resident = parts.begin() + std::min(plan_.macro.resident, plan_.macro.partitions);
  std::partial_sort(parts.begin(), resident, parts.end(), std::greater<>());
  most.batch = std::accumulate(parts.begin(), resident, std::int64_t{0});
  most.batch += std::ssize(graph_.train) * each.train_vertex + std::int64_t{sizeof(std::int64_t)};
  std::int64_t hubs_bytes = 0;
  most.batch += num_hubs() * each.vertex + from_hubs.of_hubs * each.edge;
  for (const VertexId hub : graph_.parts->hubs.first(at(num_hubs()))) {
    hubs_bytes += each.vertex + graph_.degree(hub) * index_bytes;
  }
  hubs_bytes += from_hubs.of_hubs * static_cast<std::int64_t>(sizeof(std::uint32_t));
  most.loading += base::RankedBits::bytes_of(graph_.num_vertices()) + (has_hubs_ ? 0 : hubs_bytes);
  return most;
}

ReadCounts DiskParts::take_reads() {
  const ReadCounts all = reader_.counts();
  return all - std::exchange(taken_, all);
}

std::int64_t DiskParts::bytes() const {
  return static_cast<std::int64_t>(hubs_.features.size() + hubs_.vertices.size() * sizeof(VertexId) +
                                   (hubs_.indptr.size() + hubs_.hub_indptr.size()) * sizeof(std::int64_t) +
                                   hubs_.hub_entries.size() * sizeof(std::uint32_t)) +
         hubs_.lists.bytes() + BlockReader::bytes_of({});
}

}  // namespace gnomon::runtime
