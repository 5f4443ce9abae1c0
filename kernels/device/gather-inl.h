#pragma once

#include "kernels/device/gather.h"
#include "kernels/device/rows.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

inline constexpr std::int64_t line_bytes = 128;
inline constexpr std::int64_t warp = 32;

/// The widest unit that a thread copies with one load: 16 bytes.
struct alignas(16) Unit16 {
  std::uint64_t half[2];
};

/// Copies units begin, begin + step … of a row; negative ones are not there. As the row and its copy do not
/// overlap, a thread's loads need not wait for its stores.
template <class Unit>
constexpr void copy_units(const Unit* __restrict__ from, Unit* __restrict__ to, std::int64_t begin,
                          std::int64_t units, std::int64_t step) {
  while (begin < 0) {
    begin += step;
  }
  for (std::int64_t unit = begin; unit < units; unit += step) {
    to[unit] = from[unit];
  }
}

/// Threads that copy one row: a warp, or half a warp where that covers a row with one load each.
constexpr std::int64_t lanes_for(std::int64_t units) { return units <= warp / 2 ? warp / 2 : warp; }

/// Index i is thread i % lanes of row i / lanes.
template <class Unit>
struct GatherRows {
  const Unit* all;
  const Unit* cached;
  const std::int32_t* slots;
  std::int64_t units;       ///< per row
  std::int64_t first_unit;  ///< offset of `all` in its cache line
  bool is_shifted;          ///< Reads::shifted
  const std::int64_t* vertices;
  Unit* out;
  const std::int64_t* known =
      nullptr;  ///< the number of vertices, if it is less than that of the rows; or null
  std::int64_t lanes = lanes_for(units);

  static constexpr std::int64_t units_of_line = line_bytes / static_cast<std::int64_t>(sizeof(Unit));

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t row = row_of_index(i);
    if (known == nullptr || row < *known) {
      copy_row(row, i - row * lanes);
    }
  }
  constexpr std::int64_t row_of_index(std::int64_t i) const {
    return lanes == warp ? i / warp : i / (warp / 2);  // divisions by constants are shifts
  }
  /// The part of one of the threads that copy a row.
  constexpr void copy_row(std::int64_t row, std::int64_t lane) const {
    const std::int64_t vertex = vertices[row];
    const std::int64_t slot = slots == nullptr ? -1 : slots[vertex];
    const Unit* from = slot < 0 ? all + vertex * units : cached + slot * units;
    const std::int64_t begin = slot < 0 ? first_unit + vertex * units : slot * units;
    const std::int64_t shift = is_shifted ? begin % units_of_line : 0;
    copy_units(from, out + row * units, lane - shift, units, lanes);
  }
};

/// The place of a row in its table, coarsely: the number of a range of 2^shift rows.
struct PlaceOf {
  const std::int64_t* vertices;
  const std::int64_t* known;  ///< as in GatherRows
  int shift;

  constexpr bool has(std::int64_t i) const { return known == nullptr || i < *known; }
  constexpr std::int64_t operator()(std::int64_t i) const { return vertices[i] >> shift; }
};

template <class Atomics>
struct CountPlaces {
  PlaceOf place;
  std::int64_t* counts;
  constexpr void operator()(std::int64_t i) const {
    if (place.has(i)) {
      Atomics::add(counts + place(i), std::int64_t{1});
    }
  }
};

/// Writes the number of each row behind those of lower places; rows of one place have no order.
template <class Atomics>
struct OrderByPlace {
  PlaceOf place;
  std::int64_t* ends;  ///< of the rows of each place that are written
  std::int32_t* order;
  constexpr void operator()(std::int64_t i) const {
    if (place.has(i)) {
      order[Atomics::add(ends + place(i), std::int64_t{1})] = static_cast<std::int32_t>(i);
    }
  }
};

/// Index i is thread i % lanes of rows order[i / lanes], order[i / lanes + step] …
template <class Unit>
struct GatherInOrder {
  static constexpr int min_blocks = min_blocks_without_spills;
  GatherRows<Unit> rows;
  const std::int32_t* order;
  std::int64_t count;
  std::int64_t step;

  constexpr std::int64_t gathered() const {
    return rows.known != nullptr && *rows.known < count ? *rows.known : count;
  }
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t first = rows.row_of_index(i);
    const std::int64_t end = gathered();
    for (std::int64_t at = first; at < end; at += step) {
      rows.copy_row(order[at], i - first * rows.lanes);
    }
  }
};

struct GatherLabels {
  const std::int32_t* labels;
  const std::int64_t* vertices;
  std::int64_t* out;
  constexpr void operator()(std::int64_t i) const { out[i] = labels[vertices[i]]; }
};

struct GatherDegrees {
  Topology topology;
  const std::int64_t* vertices;
  float* out;
  constexpr void operator()(std::int64_t i) const {
    out[i] = static_cast<float>(topology.neighbours(vertices[i]).degree);
  }
};

struct CopyLists {
  Topology topology;
  const std::int64_t* vertices;
  std::int64_t count;
  const std::int64_t* begins;
  ListCopies copies;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t list = row_of(begins, count, i);
    const List from = topology.neighbours(vertices[list]);
    const std::int64_t position = i - begins[list];
    if (from.narrow != nullptr) {
      copies.narrow[i] = from.narrow[position];
    } else {
      copies.wide[i] = from.wide[position];
    }
    if (from.columns != nullptr) {
      copies.columns[i] = from.columns[position];
    }
  }
};

template <class Atomics>
struct CountVisits {
  const std::int64_t* vertices;
  std::uint32_t* visits;
  constexpr void operator()(std::int64_t i) const { Atomics::add(visits + vertices[i], std::uint32_t{1}); }
};

/// Index i counts every stride-th vertex from i on, so that each index does at most one atomic addition for
/// each kind of hits.
template <class Atomics>
struct CountHits {
  CacheSlots slots;
  CacheReads reads;
  std::int64_t stride;
  CacheHits* hits;

  static constexpr std::int64_t has(const std::int32_t* slots, std::int64_t vertex) {
    return slots != nullptr && slots[vertex] >= 0 ? 1 : 0;
  }
  /// How many hops read the list of the vertex at this position.
  constexpr std::int64_t list_reads(std::int64_t position) const {
    std::int64_t times = 0;
    for (std::int64_t hop = 0; hop < reads.num_hops; ++hop) {
      times += position < reads.destinations[hop] ? 1 : 0;
    }
    return times;
  }
  static constexpr void add(std::int64_t* to, std::int64_t number) {
    if (number != 0) {
      Atomics::add(to, number);
    }
  }
  constexpr void operator()(std::int64_t i) const {
    CacheHits own;
    for (std::int64_t position = i; position < reads.count; position += stride) {
      const std::int64_t vertex = reads.vertices[position];
      const std::int64_t rows = position < reads.num_rows ? 1 : 0;
      const std::int64_t lists = list_reads(position);
      own.rows += rows * has(slots.rows, vertex);
      own.own_rows += rows * has(slots.own_rows, vertex);
      own.lists += lists * has(slots.lists, vertex);
      own.own_lists += lists * has(slots.own_lists, vertex);
    }
    add(&hits->rows, own.rows);
    add(&hits->own_rows, own.own_rows);
    add(&hits->lists, own.lists);
    add(&hits->own_lists, own.own_lists);
  }
};

template <class Unit>
GatherRows<Unit> gather_body(const Rows& rows, Reads reads, const std::int64_t* vertices, std::byte* out,
                             const std::int64_t* known) {
  const auto first = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(rows.all) % line_bytes);
  constexpr auto unit_bytes = static_cast<std::int64_t>(sizeof(Unit));
  return {reinterpret_cast<const Unit*>(rows.all),
          reinterpret_cast<const Unit*>(rows.cached),
          rows.slots,
          rows.row_bytes / unit_bytes,
          first / unit_bytes,
          reads == Reads::shifted,
          vertices,
          reinterpret_cast<Unit*>(out),
          known};
}

/// Calls act(unit) with the widest unit to which all rows, cached rows and outputs are aligned.
template <class Act>
void with_unit(const Rows& rows, const std::byte* out, const Act& act) {
  const auto misfit = reinterpret_cast<std::uintptr_t>(rows.all) |
                      reinterpret_cast<std::uintptr_t>(rows.cached) | reinterpret_cast<std::uintptr_t>(out) |
                      static_cast<std::uintptr_t>(rows.row_bytes);
  // The calls differ in their type. NOLINTNEXTLINE(bugprone-branch-clone)
  if (misfit % 16 == 0) {
    act(Unit16());
  } else if (misfit % 8 == 0) {
    act(std::uint64_t());
  } else if (misfit % 4 == 0) {
    act(std::uint32_t());
  } else {
    act(std::uint16_t());
  }
}

/// The numbers of `count` rows, those of lower places first.
template <class Executor>
Array<std::int32_t> order_by_place(Executor& executor, const std::int64_t* vertices, std::int64_t count,
                                   const std::int64_t* known, std::int64_t table_rows) {
  using Atomics = typename Executor::Atomics;
  constexpr std::int64_t max_places = 65536;  // of at most a page, up to tables of 4 GiB
  int shift = 0;
  while (((table_rows - 1) >> shift) >= max_places) {
    ++shift;
  }
  const std::int64_t places = ((table_rows - 1) >> shift) + 1;
  const auto ends = make_array<std::int64_t>(executor, places);
  auto order = make_array<std::int32_t>(executor, count);
  const PlaceOf place{vertices, known, shift};
  executor.fill(ends.data, 0, static_cast<std::size_t>(places) * sizeof(std::int64_t));
  executor.for_each(count, CountPlaces<Atomics>{place, ends.data});
  executor.exclusive_sum(ends.data, places);
  executor.for_each(count, OrderByPlace<Atomics>{place, ends.data, order.data});
  return order;
}

}  // namespace passes

template <class Executor>
void gather_rows(Executor& executor, const Rows& rows, Reads reads, const std::int64_t* vertices,
                 std::int64_t count, std::byte* out, const std::int64_t* known) {
  passes::with_unit(rows, out, [&](auto unit) {
    const auto body = passes::gather_body<decltype(unit)>(rows, reads, vertices, out, known);
    executor.for_each(body.lanes * count, body);
  });
}

template <class Executor>
void gather_rows_by_place(Executor& executor, const Rows& rows, std::int64_t table_rows, Reads reads,
                          const std::int64_t* vertices, std::int64_t count, std::byte* out,
                          const std::int64_t* known) {
  if (count <= 0) {
    return;
  }
  const auto order = passes::order_by_place(executor, vertices, count, known, table_rows);
  const std::int64_t step = count < rows_in_flight ? count : rows_in_flight;
  passes::with_unit(rows, out, [&](auto unit) {
    const auto body = passes::gather_body<decltype(unit)>(rows, reads, vertices, out, known);
    executor.for_each(body.lanes * step,
                      passes::GatherInOrder<decltype(unit)>{body, order.data, count, step});
  });
}

template <class Executor>
void gather_labels(Executor& executor, const std::int32_t* labels, const std::int64_t* vertices,
                   std::int64_t count, std::int64_t* out) {
  executor.for_each(count, passes::GatherLabels{labels, vertices, out});
}

template <class Executor>
void gather_degrees(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                    std::int64_t count, float* out) {
  executor.for_each(count, passes::GatherDegrees{topology, vertices, out});
}

template <class Executor>
void copy_lists(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                std::int64_t count, const std::int64_t* begins, std::int64_t edges,
                const ListCopies& copies) {
  executor.for_each(edges, passes::CopyLists{topology, vertices, count, begins, copies});
}

template <class Executor>
void count_visits(Executor& executor, const std::int64_t* vertices, std::int64_t count,
                  std::uint32_t* visits) {
  executor.for_each(count, passes::CountVisits<typename Executor::Atomics>{vertices, visits});
}

template <class Executor>
void count_hits(Executor& executor, const CacheSlots& slots, const CacheReads& reads, CacheHits* hits) {
  constexpr std::int64_t max_additions = 4096;
  const std::int64_t stride = reads.count < max_additions ? reads.count : max_additions;
  executor.for_each(stride, passes::CountHits<typename Executor::Atomics>{slots, reads, stride, hits});
}

}  // namespace gnomon::kernels::device
