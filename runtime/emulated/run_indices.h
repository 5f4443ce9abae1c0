#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/device/gather-inl.h"
#include "runtime/emulated/link_reads.h"

namespace gnomon::runtime::emulated {

/// run_indices(body, begin, end) runs a body's threads begin … end-1, which are whole warps or the last ones,
/// one after the other. Where the threads of a warp copy a row, the host copies the row at once: calls for
/// its units would take longer than a device takes for the copy.
template <class Body>
void run_indices(const Body& body, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    body(i);
  }
}

/// Copies the row of `vertices[row]`.
template <class Unit>
void copy_whole_row(const passes::GatherRows<Unit>& body, const kernels::device::Rows& table,
                    std::int64_t row) {
  std::memcpy(body.out + row * body.units, table.row(body.vertices[row]),
              static_cast<std::size_t>(table.row_bytes));
}

template <class Unit>
void run_indices(const passes::GatherRows<Unit>& body, std::int64_t begin, std::int64_t end) {
  const auto table = table_of(body);
  const std::int64_t last = body.row_of_index(end);
  const std::int64_t gathered = body.known == nullptr ? last : std::min(last, *body.known);
  for (std::int64_t row = body.row_of_index(begin); row < gathered; ++row) {
    copy_whole_row(body, table, row);
  }
}

template <class Unit>
void run_indices(const passes::GatherInOrder<Unit>& body, std::int64_t begin, std::int64_t end) {
  const auto table = table_of(body.rows);
  const std::int64_t last = body.rows.row_of_index(end);
  for (std::int64_t first = body.rows.row_of_index(begin); first < last; ++first) {
    for (std::int64_t at = first; at < body.gathered(); at += body.step) {
      copy_whole_row(body.rows, table, body.order[at]);
    }
  }
}

}  // namespace gnomon::runtime::emulated
