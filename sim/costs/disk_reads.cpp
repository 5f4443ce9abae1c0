#include "sim/costs/disk_reads.h"

#include <algorithm>
#include <cmath>

#include "plan/host_cache.h"

namespace gnomon::sim {

DiskReads reads_of(const WantedItems& items, double block_bytes) {
  if (items.wanted <= 0 || items.items <= 0 || items.item_bytes <= 0) {
    return {};
  }
  const double density = std::min(1.0, items.wanted / items.items);
  const auto gap_bytes = static_cast<double>(plan::disk_gap_bytes);
  const double reach = gap_bytes / items.item_bytes;
  // Distances between wanted items are geometrically distributed: the probability that the gap is too large.
  const double apart = std::pow(1 - density, reach);
  const double merged = items.wanted * (1 - apart);
  const double mean_gap = std::min(gap_bytes, items.item_bytes / density);
  const double blocks = std::max(1.0, std::ceil(items.item_bytes / block_bytes));
  DiskReads reads;
  reads.bytes = items.wanted * apart * blocks * block_bytes + merged * std::max(mean_gap, items.item_bytes);
  reads.reads =
      std::max(items.wanted * apart * blocks, reads.bytes / static_cast<double>(plan::disk_buffer_bytes));
  return reads;
}

}  // namespace gnomon::sim
