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
    const std::int64_t row = lanes == warp ? i / warp : i / (warp / 2);  // divisions by constants are shifts
    if (known != nullptr && row >= *known) {
      return;
    }
    const std::int64_t vertex = vertices[row];
    const std::int64_t slot = slots == nullptr ? -1 : slots[vertex];
    const Unit* from = slot < 0 ? all + vertex * units : cached + slot * units;
    const std::int64_t begin = slot < 0 ? first_unit + vertex * units : slot * units;
    const std::int64_t shift = is_shifted ? begin % units_of_line : 0;
    for (std::int64_t unit = i - row * lanes - shift; unit < units; unit += lanes) {
      if (unit >= 0) {
        out[row * units + unit] = from[unit];
      }
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

/// Index i counts every stride-th vertex from i on, so that each index does one atomic addition.
template <class Atomics>
struct CountHits {
  const std::int32_t* slots;
  const std::int64_t* vertices;
  std::int64_t count;
  std::int64_t stride;
  std::int64_t* all;
  std::int64_t* hits;
  constexpr void operator()(std::int64_t i) const {
    std::int64_t own = 0;
    for (std::int64_t v = i; v < count; v += stride) {
      own += slots[vertices[v]] >= 0 ? 1 : 0;
    }
    Atomics::add(hits, own);
    if (i == 0) {
      Atomics::add(all, count);
    }
  }
};

template <class Unit, class Executor>
void gather_units(Executor& executor, const Rows& rows, Reads reads, const std::int64_t* vertices,
                  std::int64_t count, std::byte* out, const std::int64_t* known) {
  const auto first = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(rows.all) % line_bytes);
  constexpr auto unit_bytes = static_cast<std::int64_t>(sizeof(Unit));
  executor.for_each(
      lanes_for(rows.row_bytes / unit_bytes) * count,
      GatherRows<Unit>{reinterpret_cast<const Unit*>(rows.all), reinterpret_cast<const Unit*>(rows.cached),
                       rows.slots, rows.row_bytes / unit_bytes, first / unit_bytes, reads == Reads::shifted,
                       vertices, reinterpret_cast<Unit*>(out), known});
}

}  // namespace passes

template <class Executor>
void gather_rows(Executor& executor, const Rows& rows, Reads reads, const std::int64_t* vertices,
                 std::int64_t count, std::byte* out, const std::int64_t* known) {
  // Use the widest unit to which all rows, cached rows and outputs are aligned.
  const auto misfit = reinterpret_cast<std::uintptr_t>(rows.all) |
                      reinterpret_cast<std::uintptr_t>(rows.cached) | reinterpret_cast<std::uintptr_t>(out) |
                      static_cast<std::uintptr_t>(rows.row_bytes);
  if (misfit % 16 == 0) {
    passes::gather_units<passes::Unit16>(executor, rows, reads, vertices, count, out, known);
  } else if (misfit % 8 == 0) {
    passes::gather_units<std::uint64_t>(executor, rows, reads, vertices, count, out, known);
  } else if (misfit % 4 == 0) {
    passes::gather_units<std::uint32_t>(executor, rows, reads, vertices, count, out, known);
  } else {
    passes::gather_units<std::uint16_t>(executor, rows, reads, vertices, count, out, known);
  }
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
void count_hits(Executor& executor, const std::int32_t* slots, const std::int64_t* vertices,
                std::int64_t count, std::int64_t* all, std::int64_t* hits) {
  constexpr std::int64_t max_additions = 4096;
  const std::int64_t stride = count < max_additions ? count : max_additions;
  executor.for_each(stride,
                    passes::CountHits<typename Executor::Atomics>{slots, vertices, count, stride, all, hits});
}

}  // namespace gnomon::kernels::device
