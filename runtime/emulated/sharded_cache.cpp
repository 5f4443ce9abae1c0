#include "runtime/emulated/sharded_cache.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/index.h"

namespace gnomon::runtime::emulated {
namespace {

using graph::VertexId;

using base::at;

std::shared_ptr<std::byte> memory_of(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), memory_alignment));
  return {memory, [](std::byte* freed) { ::operator delete(freed, memory_alignment); }};
}

/// Copies elements first … first + count - 1 of `from` to the array's elements from `to` on.
template <class T>
void copy(std::span<const T> from, std::int64_t first, std::int64_t count, std::byte* array,
          std::int64_t to) {
  if (count > 0) {
    std::memcpy(array + at(to) * sizeof(T), from.data() + first, at(count) * sizeof(T));
  }
}

}  // namespace

void ShardedCache::Vertices::add(const std::vector<VertexId>& part) {
  all.insert(all.end(), part.begin(), part.end());
  begins.push_back(all.size());
}

/// An array whose parts start at the elements `begins`; the last part has `more` additional elements.
ShardedCache::Array ShardedCache::array_of(std::size_t element_bytes, const std::vector<std::size_t>& begins,
                                           std::size_t more) {
  Array array;
  for (const auto begin : begins) {
    array.begins.push_back(element_bytes * begin);
  }
  array.begins.back() += more * element_bytes;
  array.bytes = memory_of(array.begins.back());
  return array;
}

ShardedCache::ShardedCache(const PlacedGraph& graph, const std::vector<CacheContent>& parts,
                           std::span<const Member> members)
    : features_(graph.graph.features) {
  const auto& topology = graph.topology;
  std::vector<std::size_t> edges{0};
  for (const auto& part : parts) {
    rows_.add(part.rows);
    lists_.add(part.lists);
    for (const VertexId vertex : part.lists) {
      edge_begins_.push_back(edge_begins_.back() + topology.degree(vertex));
    }
    edges.push_back(at(edge_begins_.back()));
  }
  row_bytes_ = array_of(at(features_.row_bytes()), rows_.begins);
  indptr_ = array_of(sizeof(std::int64_t), lists_.begins, lists_.all.empty() ? 0 : 1);
  const std::vector<std::size_t> none(edges.size());
  wide_ = array_of(sizeof(VertexId), topology.narrow_indices.empty() ? edges : none);
  narrow_ = array_of(sizeof(std::uint32_t), topology.narrow_indices.empty() ? none : edges);
  columns_ = array_of(sizeof(kernels::AliasColumn), topology.draws_by_weight() ? edges : none);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto bytes = bytes_of(part);
    reservations_.push_back(reserve_in(members[part].arena, bytes));
    members[part].link->copy(static_cast<std::int64_t>(bytes), [&] {
      copy_rows(part);
      copy_lists(topology, part);
    });
  }
}

std::size_t ShardedCache::bytes_of(std::size_t part) const {
  std::size_t bytes = 0;
  for (const auto* array : {&row_bytes_, &indptr_, &wide_, &narrow_, &columns_}) {
    bytes += array->begins[part + 1] - array->begins[part];
  }
  return bytes;
}

void ShardedCache::copy_rows(std::size_t part) {
  const auto bytes = at(features_.row_bytes());
  for (std::size_t row = rows_.begins[part]; row < rows_.begins[part + 1]; ++row) {
    std::memcpy(row_bytes_.bytes.get() + row * bytes, features_.row(rows_.all[row]), bytes);
  }
}

void ShardedCache::copy_lists(const kernels::cpu::Topology& topology, std::size_t part) {
  const auto first = lists_.begins[part];
  const auto last = lists_.begins[part + 1];
  copy<std::int64_t>(edge_begins_, static_cast<std::int64_t>(first),
                     static_cast<std::int64_t>(last - first) + (part + 2 == lists_.begins.size() ? 1 : 0),
                     indptr_.bytes.get(), static_cast<std::int64_t>(first));
  for (std::size_t list = first; list < last; ++list) {
    const auto begin = topology.indptr[at(lists_.all[list])];
    const auto degree = topology.degree(lists_.all[list]);
    const auto to = edge_begins_[list];
    if (topology.narrow_indices.empty()) {
      copy(topology.indices, begin, degree, wide_.bytes.get(), to);
    } else {
      copy(topology.narrow_indices, begin, degree, narrow_.bytes.get(), to);
    }
    if (topology.draws_by_weight()) {
      copy(topology.columns, begin, degree, columns_.bytes.get(), to);
    }
  }
}

void ShardedCache::place(const std::shared_ptr<const ShardedCache>& cache, std::size_t number,
                         const Member& member, EmulatedHardware& hardware, DeviceGraph& graph) {
  graph.cache_owners.push_back(cache);
  const auto table_of = [&](const Vertices& vertices, std::size_t first, std::size_t last) {
    const auto count = at(graph.topology.num_vertices);
    const auto memory = member.arena->allocate(count * sizeof(std::int32_t));
    auto* slots = static_cast<std::int32_t*>(memory.get());
    member.link->copy(static_cast<std::int64_t>(count * sizeof(std::int32_t)), [&] {
      std::fill_n(slots, count, -1);
      for (std::size_t slot = first; slot < last; ++slot) {
        slots[at(vertices.all[slot])] = static_cast<std::int32_t>(slot);
      }
    });
    graph.cache_owners.push_back(memory);
    return slots;
  };
  if (!cache->rows_.all.empty()) {
    const auto& rows = cache->rows_;
    graph.rows.cached = cache->row_bytes_.bytes.get();
    graph.rows.slots = table_of(rows, 0, rows.all.size());
    graph.own_row_slots = table_of(rows, rows.begins[number], rows.begins[number + 1]);
  }
  if (!cache->lists_.all.empty()) {
    const auto& lists = cache->lists_;
    const auto& topology = graph.topology.lists;
    const auto as = [](const Array& array, auto* type) {
      return reinterpret_cast<decltype(type)>(array.bytes.get());
    };
    graph.topology.cached = {
        as(cache->indptr_, static_cast<const std::int64_t*>(nullptr)),
        topology.indices == nullptr ? nullptr : as(cache->wide_, topology.indices),
        topology.narrow_indices == nullptr ? nullptr : as(cache->narrow_, topology.narrow_indices),
        topology.columns == nullptr ? nullptr : as(cache->columns_, topology.columns)};
    graph.topology.slots = table_of(lists, 0, lists.all.size());
    graph.own_list_slots = table_of(lists, lists.begins[number], lists.begins[number + 1]);
  }
  for (const auto* array :
       {&cache->row_bytes_, &cache->indptr_, &cache->wide_, &cache->narrow_, &cache->columns_}) {
    const auto* bytes = array->bytes.get();
    for (const auto& [begin, end] : {std::pair{std::size_t{0}, array->begins[number]},
                                     std::pair{array->begins[number + 1], array->begins.back()}}) {
      if (begin < end) {
        graph.cache_owners.push_back(hardware.map_peers(bytes + begin, end - begin));
      }
    }
  }
}

}  // namespace gnomon::runtime::emulated
