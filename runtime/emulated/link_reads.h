#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/gather-inl.h"
#include "kernels/device/sampler-inl.h"
#include "runtime/emulated/zero_copy_reads.h"

/// The addresses that the kernels of kernels/device read in memory that may be the host's.
/// read_over_link(body, count, coalescer) passes to the coalescer the addresses that a body's threads read
/// for indices 0 … count-1. The default, for bodies that only read the device's own memory, does nothing.
namespace gnomon::runtime::emulated {

namespace passes = kernels::device::passes;

template <class Body>
void read_over_link(const Body&, std::int64_t, Coalescer&) {}

/// The row pointers of a vertex's list.
inline void read_list_header(const kernels::device::Topology& topology, std::int64_t vertex,
                             Coalescer& coalescer) {
  const std::int32_t slot = topology.slots == nullptr ? -1 : topology.slots[vertex];
  const auto& lists = slot < 0 ? topology.lists : topology.cached;
  coalescer.read(lists.indptr + (slot < 0 ? vertex : slot), 2 * sizeof(std::int64_t));
}

template <class Atomics>
void read_over_link(const passes::FindLists<Atomics>& body, std::int64_t count, Coalescer& coalescer) {
  const std::int64_t known = count < *body.known ? count : *body.known;
  for (std::int64_t i = 0; i < known; ++i) {
    read_list_header(body.topology, body.vertices[i], coalescer);
  }
  for (std::int64_t i = 0; body.topology.positives != nullptr && i < known; ++i) {
    coalescer.read(body.topology.positives + body.vertices[i], sizeof(std::uint32_t));
  }
}

/// Each weighted draw reads a column of the alias table, or all columns if all edges of positive weight are
/// taken, and the row pointers.
template <class Atomics>
void read_over_link(const passes::DrawPositions<Atomics>& body, std::int64_t count, Coalescer& coalescer) {
  if (!body.topology.draws_by_weight()) {
    return;
  }
  const std::int64_t known = count < *body.known ? count : *body.known;
  for (std::int64_t i = 0; i < known; ++i) {
    const auto& list = body.lists[i];
    coalescer.read(body.topology.lists.indptr + body.vertices[i], sizeof(std::int64_t));
    const std::int64_t drawn = body.indptr[i + 1] - body.indptr[i];
    if (kernels::takes_all(list.degree, body.fanout)) {
      const std::int64_t scanned = drawn == list.degree ? 0 : list.degree;
      coalescer.read(list.columns, scanned * static_cast<std::int64_t>(sizeof(kernels::AliasColumn)));
      continue;
    }
    for (std::int64_t j = body.indptr[i]; j < body.indptr[i + 1]; ++j) {
      coalescer.read(list.columns + body.positions[j], sizeof(kernels::AliasColumn));
    }
  }
}

template <class Atomics>
void read_over_link(const passes::InsertNeighbours<Atomics>& body, std::int64_t count, Coalescer& coalescer) {
  const std::int64_t edges = count < body.indptr[*body.known] ? count : body.indptr[*body.known];
  for (std::int64_t edge = 0, owner = 0; edge < edges; ++edge) {
    while (body.indptr[owner + 1] <= edge) {
      ++owner;
    }
    const auto& list = body.lists[owner];
    const std::int64_t position =
        body.positions == nullptr ? edge - body.indptr[owner] : body.positions[edge];
    if (list.narrow != nullptr) {
      coalescer.read(list.narrow + position, sizeof(std::uint32_t));
    } else {
      coalescer.read(list.wide + position, sizeof(std::int64_t));
    }
  }
}

inline void read_over_link(const passes::GatherDegrees& body, std::int64_t count, Coalescer& coalescer) {
  for (std::int64_t i = 0; i < count; ++i) {
    read_list_header(body.topology, body.vertices[i], coalescer);
  }
}

inline void read_over_link(const passes::CopyLists& body, std::int64_t, Coalescer& coalescer) {
  for (std::int64_t i = 0; i < body.count; ++i) {
    const auto list = body.topology.neighbours(body.vertices[i]);
    coalescer.read(list.narrow, list.narrow == nullptr ? 0 : list.degree * std::int64_t{4});
    coalescer.read(list.wide, list.wide == nullptr ? 0 : list.degree * std::int64_t{8});
    coalescer.read(list.columns, list.columns == nullptr
                                     ? 0
                                     : list.degree * static_cast<std::int64_t>(sizeof(kernels::AliasColumn)));
    read_list_header(body.topology, body.vertices[i], coalescer);
  }
}

/// The rows of `count` vertices; cached rows are in device memory.
inline void read_rows(const kernels::device::Rows& rows, kernels::device::Reads reads,
                      const std::int64_t* vertices, std::int64_t count, Coalescer& coalescer) {
  for (std::int64_t i = 0; i < count; ++i) {
    coalescer.read_row(rows.row(vertices[i]), rows.row_bytes, reads);
  }
}

template <class Unit>
kernels::device::Rows table_of(const passes::GatherRows<Unit>& body) {
  return {reinterpret_cast<const std::byte*>(body.all), body.units * static_cast<std::int64_t>(sizeof(Unit)),
          body.slots, reinterpret_cast<const std::byte*>(body.cached)};
}

template <class Unit>
kernels::device::Reads kind_of_reads(const passes::GatherRows<Unit>& body) {
  return body.is_shifted ? kernels::device::Reads::shifted : kernels::device::Reads::straight;
}

template <class Unit>
void read_over_link(const passes::GatherRows<Unit>& body, std::int64_t count, Coalescer& coalescer) {
  const std::int64_t room = count / body.lanes;
  const std::int64_t gathered = body.known == nullptr ? room : std::min(room, *body.known);
  read_rows(table_of(body), kind_of_reads(body), body.vertices, gathered, coalescer);
}

template <class Unit>
void read_over_link(const passes::GatherInOrder<Unit>& body, std::int64_t, Coalescer& coalescer) {
  const auto rows = table_of(body.rows);
  for (std::int64_t at = 0; at < body.gathered(); ++at) {
    coalescer.read_row(rows.row(body.rows.vertices[body.order[at]]), rows.row_bytes,
                       kind_of_reads(body.rows));
  }
}

}  // namespace gnomon::runtime::emulated
