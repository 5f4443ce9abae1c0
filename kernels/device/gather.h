#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/device/topology.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// Feature rows as a device reads them: all rows, in device memory or in mapped host memory, and optionally
/// copies of the hottest rows in device memory.
struct Rows {
  const std::byte* all = nullptr;
  std::int64_t row_bytes = 0;
  const std::int32_t* slots = nullptr;  ///< each vertex's row in `cached`, or -1; null without a cache
  const std::byte* cached = nullptr;

  constexpr const std::byte* row(std::int64_t vertex) const {
    const std::int64_t slot = slots == nullptr ? -1 : slots[vertex];
    return slot < 0 ? all + vertex * row_bytes : cached + slot * row_bytes;
  }
};

/// How a device reads rows over the link that are not aligned to its cache lines of 128 bytes. `shifted`: the
/// threads of a warp are shifted back to the start of the cache line, so that only a row's first and last
/// request are partial (PyTorch-Direct, arXiv 2103.03330, section 4.4). `straight`: unaligned requests, each
/// of which is split in two.
enum class Reads : std::uint8_t { shifted, straight };

/// Copies the rows of `vertices` (device memory) to `out`, count x row_bytes. If `known` is not null, only
/// the rows of the first *known (device memory) of these vertices are copied.
template <class Executor>
void gather_rows(Executor& executor, const Rows& rows, Reads reads, const std::int64_t* vertices,
                 std::int64_t count, std::byte* out, const std::int64_t* known = nullptr);

/// Writes labels[v] of each vertex v, as int64 for torch's cross-entropy.
template <class Executor>
void gather_labels(Executor& executor, const std::int32_t* labels, const std::int64_t* vertices,
                   std::int64_t count, std::int64_t* out);

/// Writes each vertex's in-degree in the whole graph.
template <class Executor>
void gather_degrees(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                    std::int64_t count, float* out);

/// The output of copy_lists: concatenated lists with 64-bit or 32-bit ids, as the topology has them, and
/// their alias tables if it has any.
struct ListCopies {
  std::int64_t* wide = nullptr;
  std::uint32_t* narrow = nullptr;
  AliasColumn* columns = nullptr;
};

/// Copies the lists of `vertices` (device memory): list i goes to elements begins[i] … of `copies`. `begins`
/// (device memory) has count + 1 elements, the last of which is `edges`.
template <class Executor>
void copy_lists(Executor& executor, const Topology& topology, const std::int64_t* vertices,
                std::int64_t count, const std::int64_t* begins, std::int64_t edges, const ListCopies& copies);

/// Increments visits[v] for each v in `vertices`, which may have duplicates.
template <class Executor>
void count_visits(Executor& executor, const std::int64_t* vertices, std::int64_t count,
                  std::uint32_t* visits);

/// Adds `count` to *all, and the number of `vertices` that have a slot to *hits.
template <class Executor>
void count_hits(Executor& executor, const std::int32_t* slots, const std::int64_t* vertices,
                std::int64_t count, std::int64_t* all, std::int64_t* hits);

}  // namespace gnomon::kernels::device
