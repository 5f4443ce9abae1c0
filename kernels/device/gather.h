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

/// gather_rows of a large table in host memory: reads the rows in the order of their places in the table, at
/// most rows_in_flight at a time. Devices that read host memory translate its addresses page by page, and
/// keep few translations: rows in no order come at a fraction of the link's bandwidth when the table has
/// gigabytes (bench/results/gpu.json). The table has `table_rows` rows.
template <class Executor>
void gather_rows_by_place(Executor& executor, const Rows& rows, std::int64_t table_rows, Reads reads,
                          const std::int64_t* vertices, std::int64_t count, std::byte* out,
                          const std::int64_t* known = nullptr);

/// Enough to use the bandwidth of a link: half a MiB of rows of 256 bytes.
inline constexpr std::int64_t rows_in_flight = 2048;

/// Smaller tables come at the link's bandwidth in any order: an H200 keeps the translations of 512 MiB.
inline constexpr std::int64_t min_bytes_by_place = (std::int64_t{512} << 20) + 1;

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

/// For each vertex a slot of a cache of rows or of lists, or -1; null without that cache. `own_rows` and
/// `own_lists` have only the slots on the device itself.
struct CacheSlots {
  const std::int32_t* rows = nullptr;
  const std::int32_t* lists = nullptr;
  const std::int32_t* own_rows = nullptr;
  const std::int32_t* own_lists = nullptr;
};

/// What a mini-batch reads, of which device memory holds the arrays: the rows of the first `num_rows` of
/// `count` vertices, and in hop h the lists of the first destinations[h], at most `count`.
struct CacheReads {
  const std::int64_t* vertices = nullptr;
  std::int64_t count = 0;
  std::int64_t num_rows = 0;
  const std::int64_t* destinations = nullptr;
  std::int64_t num_hops = 0;
};

/// Reads that a cache answered, in the order of CacheSlots.
struct CacheHits {
  std::int64_t rows = 0, lists = 0, own_rows = 0, own_lists = 0;
};

/// Adds the hits of a mini-batch to *hits (device memory), by one kernel.
template <class Executor>
void count_hits(Executor& executor, const CacheSlots& slots, const CacheReads& reads, CacheHits* hits);

}  // namespace gnomon::kernels::device
