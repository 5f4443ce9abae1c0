#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/device/topology.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// Feature rows as a device reads them: all of them, in its own memory or over the link in the host's
/// (mapped), and perhaps copies of the hottest ones in its own.
struct Rows {
  const std::byte* all = nullptr;
  std::int64_t row_bytes = 0;
  const std::int32_t* slots = nullptr;  ///< of each vertex: its row among the cached ones, or -1; may be null
  const std::byte* cached = nullptr;

  constexpr const std::byte* row(std::int64_t vertex) const {
    const std::int64_t slot = slots == nullptr ? -1 : slots[vertex];
    return slot < 0 ? all + vertex * row_bytes : cached + slot * row_bytes;
  }
};

/// How a device reads rows that do not begin at its lines of 128 bytes over the link. `shifted`: the threads
/// of a warp are moved by the distance to the line before, so that only a row's first and last request are
/// partial (PyTorch-Direct, arXiv 2103.03330, section 4.4). `straight`: every request is split in two.
enum class Reads : std::uint8_t { shifted, straight };

/// Copies the rows of `vertices` (device memory) to `out`, row after row: count x row_bytes.
template <class Executor>
void gather_rows(Executor& executor, const Rows& rows, Reads reads, const std::int64_t* vertices,
                 std::int64_t count, std::byte* out);

/// Writes labels[v] of each vertex (int64, as cross-entropy takes them).
template <class Executor>
void gather_labels(Executor& executor, const std::int32_t* labels, const std::int64_t* vertices,
                   std::int64_t count, std::int64_t* out);

/// Writes the true in-degree of each vertex.
template <class Executor>
void gather_degrees(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                    std::int64_t count, float* out);

/// Where copies of lists go, one behind the other in the ids' own width: whichever of the indices the
/// topology has, and its columns.
struct ListCopies {
  std::int64_t* wide = nullptr;
  std::uint32_t* narrow = nullptr;
  AliasColumn* columns = nullptr;
};

/// Copies the lists of `vertices` (device memory): list i to the elements of `copies` from begins[i] on.
/// `begins` (device memory) has count + 1 entries, the last of which is `edges`.
template <class Executor>
void copy_lists(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                std::int64_t count, const std::int64_t* begins, std::int64_t edges, const ListCopies& copies);

/// Adds one to visits[v] of each of `vertices`, which may repeat.
template <class Executor>
void count_visits(Executor& executor, const std::int64_t* vertices, std::int64_t count,
                  std::uint32_t* visits);

/// Adds `count` to *all, and to *hits how many of `vertices` have a slot.
template <class Executor>
void count_hits(Executor& executor, const std::int32_t* slots, const std::int64_t* vertices,
                std::int64_t count, std::int64_t* all, std::int64_t* hits);

}  // namespace gnomon::kernels::device
