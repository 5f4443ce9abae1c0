#include "plan/host_cache.h"

#include <algorithm>

namespace gnomon::plan {
namespace {

/// Overhead of policy `recent` per entry: key, reference bit and two hash table slots.
constexpr double recent_entry_bytes = 8 + 1 + 2 * 4;
/// Overhead of policy `optimal` per entry: the planned and the actual vertex, the last writer, the next use
/// and the links of a list.
constexpr double optimal_entry_bytes = 6 * 4;
/// Size of an element of the table from vertices to entries, and of that from vertices to their next use.
constexpr double table_bytes = 4;

std::int64_t entries_in(double bytes, double bytes_each, std::int64_t all) {
  return std::clamp(static_cast<std::int64_t>(bytes / bytes_each), std::int64_t{0}, all);
}

}  // namespace

std::int64_t host_cache_rows(CachePolicy policy, double bytes, std::int64_t vertices,
                             std::int64_t row_bytes) {
  const double tables = table_bytes * static_cast<double>(vertices);
  const auto each = static_cast<double>(row_bytes);
  switch (policy) {
    case CachePolicy::none:
      return 0;
    case CachePolicy::recent:
      return entries_in(bytes, each + recent_entry_bytes, vertices);
    case CachePolicy::optimal:
      return entries_in(bytes * (1 - look_ahead_share) - 2 * tables, each + optimal_entry_bytes, vertices);
    case CachePolicy::random:
    case CachePolicy::out_degree:
    case CachePolicy::presample:
    case CachePolicy::value_weight:
      break;
  }
  return entries_in(bytes - tables, each, vertices);
}

std::int64_t host_cache_blocks(double bytes, std::int64_t blocks, std::int64_t block_bytes) {
  return entries_in(bytes, static_cast<double>(block_bytes) + recent_entry_bytes, blocks);
}

}  // namespace gnomon::plan
