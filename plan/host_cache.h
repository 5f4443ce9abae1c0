#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/vocabulary.h"

// The host memory used by disk caches and readers, shared by the runtime and the simulator.

namespace gnomon::plan {

/// A block reader's number of reads in flight, and the size of the buffer of each.
inline constexpr int disk_reads_in_flight = 64;
inline constexpr std::size_t disk_buffer_bytes = std::size_t{1} << 16;
inline constexpr std::int64_t disk_reader_bytes =
    disk_reads_in_flight * static_cast<std::int64_t>(disk_buffer_bytes);
/// Maximum gap between parts of a file that are merged into one read.
inline constexpr std::uint64_t disk_gap_bytes = 4096;

/// Policy `optimal` stores the accesses of a super-batch, in at most this share of the cache's memory; a
/// super-batch that needs more is cut short.
inline constexpr double look_ahead_share = 0.125;
/// Bytes of a stored access: the vertex and its next use.
inline constexpr std::int64_t known_access_bytes = 8;

/// The number of rows of `row_bytes` that fit into a host cache of `bytes` together with its lookup
/// structures, at most `vertices`; 0 if these alone do not fit.
std::int64_t host_cache_rows(CachePolicy policy, double bytes, std::int64_t vertices, std::int64_t row_bytes);

/// The blocks of adjacency lists that a host cache of `bytes` holds (policy `recent`), at most `blocks`.
std::int64_t host_cache_blocks(double bytes, std::int64_t blocks, std::int64_t block_bytes);

}  // namespace gnomon::plan
