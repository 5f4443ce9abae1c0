#include "runtime/macro/disk_parts.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "base/process_memory.h"
#include "graph/partition/hubs.h"
#include "kernels/cpu/member_ranks.h"
#include "runtime/macro/macro_build.h"
#include "runtime/macro/parts_of_plan.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

std::uint64_t bytes_of(std::int64_t elements, std::uint64_t each) {
  return static_cast<std::uint64_t>(elements) * each;
}

/// The sum of the `count` largest values, or of all if there are fewer.
std::int64_t sum_of_largest(std::vector<std::int64_t> values, std::int64_t count) {
  const auto end = values.begin() + std::min<std::int64_t>(count, std::ssize(values));
  std::partial_sort(values.begin(), end, values.end(), std::greater<>());
  return std::accumulate(values.begin(), end, std::int64_t{0});
}

}  // namespace

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
  return {sum_of_largest(std::move(vertices), plan_.macro.resident) + num_hubs(),
          sum_of_largest(std::move(edges), plan_.macro.resident)};
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
  return groups_of_parts(plan_.macro, job_.seed, epoch, graph_.train,
                         [this](VertexId vertex) { return graph_.parts->part_of(vertex); });
}

void DiskParts::read(std::span<const Wanted> wanted) {
  std::vector<Extent> extents;
  std::vector<std::byte*> places;
  for (const auto& [file, range, to] : wanted) {
    const Array& array = arrays_.at(file);
    if (range.size() > 0) {
      extents.push_back({array.first_byte + bytes_of(range.begin, array.element_bytes),
                         bytes_of(range.size(), array.element_bytes), file});
      places.push_back(to);
    }
  }
  reader_.read(extents, [&](std::size_t extent, std::uint64_t from, std::span<const std::byte> bytes) {
    std::memcpy(places[extent] + from, bytes.data(), bytes.size());
  });
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
  for (const VertexId hub : hubs_.vertices) {
    hubs_.indptr.push_back(hubs_.indptr.back() + graph_.degree(hub));
  }
  const std::uint64_t index_bytes = arrays_[lists].element_bytes;
  std::byte* const to = hubs_.lists.resize(at(hubs_.indptr.back()), index_bytes);
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < count; ++i) {
    wanted.push_back({lists, edges_of({hubs_.vertices[i], hubs_.vertices[i] + 1}),
                      to + bytes_of(hubs_.indptr[i], index_bytes)});
  }
  for (std::size_t i = 0; i < count; ++i) {
    wanted.push_back(
        {features, {hubs_.vertices[i], hubs_.vertices[i] + 1}, hubs_.features.data() + i * row_bytes_});
  }
  read(wanted);
  hubs_.find_hub_entries(graph_.num_vertices());
}

void DiskParts::want_lists(Range range, PartLists& part, std::vector<Wanted>& wanted) const {
  const Range edges = edges_of(range);
  part.range = range;
  part.pointers.resize(at(range.size()) + 1);
  wanted.push_back(
      {row_pointers, {range.begin, range.end + 1}, reinterpret_cast<std::byte*>(part.pointers.data())});
  wanted.push_back({lists, edges, part.lists.resize(at(edges.size()), arrays_[lists].element_bytes)});
}

std::unique_ptr<MacroBuild> DiskParts::begin_build(std::span<const std::int32_t> parts) const {
  std::vector<MacroBuild::Part> ranges;
  for (const auto part : parts) {
    const Range range = range_of(part);
    ranges.push_back({range.begin, range.end});
  }
  auto build = std::make_unique<MacroBuild>(graph_.num_vertices(), row_bytes_, ranges, hubs_, spare_->take());
  MacroArrays& arrays = build->arrays();
  arrays.indptr.reserve(arrays.vertices.size() + 1);
  arrays.whole_degrees.reserve(arrays.vertices.size());
  // Pages that are never written take no memory.
  arrays.indices.reserve(at(room_.edges + hubs_.indptr.back()) + kernels::cpu::member_ranks_slack, 0);
  arrays.features.form = graph_.features;
  arrays.features.data.reserve(at(room_.vertices) * row_bytes_, 0);
  build->add_hubs(ranges.front().begin);
  return build;
}

void DiskParts::add_part(MacroBuild& build, const PartLists& part) {
  const auto& pointers = part.pointers;
  for (std::size_t i = 0; i + 1 < pointers.size(); ++i) {
    build.add_list(
        part.lists.view().subspan(at(pointers[i] - pointers.front()), at(pointers[i + 1] - pointers[i])));
  }
  build.skip_hubs(part.range.end);
}

std::unique_ptr<MacroBuild> DiskParts::read_parts(std::span<const std::int32_t> parts) {
  constexpr std::size_t at_once = std::tuple_size_v<decltype(part_lists_)>;
  std::unique_ptr<MacroBuild> build;
  std::shared_future<void> begun = std::async(std::launch::async, [&] { build = begin_build(parts); });
  std::array<std::shared_future<void>, at_once> added;  // the parts whose lists are in part_lists_
  std::shared_future<void> last = begun;                // parts are added one after the other
  std::vector<Wanted> wanted;
  const auto want_features = [&](std::size_t part) {
    const Range range = range_of(parts[part]);
    wanted.push_back({features, range, build->rows_from(range.begin)});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PartLists& part = part_lists_.at(i % at_once);
    if (i >= at_once) {
      added.at(i % at_once).get();
      want_features(i - at_once);
    }
    want_lists(range_of(parts[i]), part, wanted);
    read(wanted);
    wanted.clear();
    const VertexId hubs_below = i + 1 == parts.size() ? graph_.num_vertices() : range_of(parts[i + 1]).begin;
    last = std::async(std::launch::async, [&, hubs_below, before = last] {
      before.get();
      add_part(*build, part);
      build->add_hubs(hubs_below);
    });
    added.at(i % at_once) = last;
  }
  begun.get();
  for (std::size_t i = parts.size() - std::min(parts.size(), at_once); i < parts.size(); ++i) {
    want_features(i);
  }
  read(wanted);
  last.get();
  return build;
}

std::shared_ptr<MacroBatch> DiskParts::load(const MacroLayout& layout, std::int64_t group, std::int64_t) {
  if (!has_hubs_) {
    read_hubs();
  }
  const auto& members = layout.group(group);
  const auto build = read_parts(members.parts);
  return std::make_shared<MacroBatch>(graph_, std::move(build->arrays()), members.train, plan_.workers,
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
  const auto is_hub = set_of(hubs, graph_.num_vertices());
  for (const VertexId hub : hubs) {
    graph_.indices.subspan(at(graph_.indptr[at(hub)]), at(graph_.degree(hub))).visit([&](auto sources) {
      for (const auto source : sources) {
        const auto vertex = static_cast<VertexId>(source);
        if (is_hub.contains(vertex)) {
          ++entries.of_hubs;
        } else {
          ++entries.of_parts[at(graph_.parts->part_of(vertex))];
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
  const std::int64_t at_once = std::min<std::int64_t>(plan_.macro.resident, std::ssize(part_lists_));
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
  const std::int64_t held = part_lists_[0].bytes() + part_lists_[1].bytes();
  most.loading = std::max<std::int64_t>(0, sum_of_largest(std::move(read), at_once) - held);
  most.batch = sum_of_largest(std::move(parts), plan_.macro.resident);
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

std::int64_t DiskParts::bytes() const { return hubs_.bytes() + BlockReader::bytes_of({}); }

}  // namespace gnomon::runtime
