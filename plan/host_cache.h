#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/vocabulary.h"

// The host's memory that caches of the disk and readers take: for those that execute a plan and for those
// that predict it.

namespace gnomon::plan {

/// A reader of blocks: its reads in flight, and the buffer of each.
inline constexpr int disk_reads_in_flight = 64;
inline constexpr std::size_t disk_buffer_bytes = std::size_t{1} << 16;
inline constexpr std::int64_t disk_reader_bytes =
    disk_reads_in_flight * static_cast<std::int64_t>(disk_buffer_bytes);
/// Parts of a file that are no further apart are read together.
inline constexpr std::uint64_t disk_gap_bytes = 4096;

/// Policy `optimal` knows the accesses of a super-batch. They may take this share of the cache's memory; a
/// super-batch that needs more ends earlier.
inline constexpr double look_ahead_share = 0.125;
/// What an access that is known takes there: the vertex, and when it is used next.
inline constexpr std::int64_t known_access_bytes = 8;

/// The rows of `row_bytes` that a host cache of `bytes` holds beside what it needs to find them, at most
/// `vertices`; 0 if it needs all of that.
std::int64_t host_cache_rows(CachePolicy policy, double bytes, std::int64_t vertices, std::int64_t row_bytes);

/// The blocks of adjacency lists that a host cache of `bytes` holds (policy `recent`), at most `blocks`.
std::int64_t host_cache_blocks(double bytes, std::int64_t blocks, std::int64_t block_bytes);

}  // namespace gnomon::plan
