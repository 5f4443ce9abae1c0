#pragma once

namespace gnomon::sim {

/// A mini-batch's reads of an array on disk: `wanted` random ones of `items` items of `item_bytes` each.
struct WantedItems {
  double wanted = 0;
  double items = 0;
  double item_bytes = 0;
};

struct DiskReads {
  double reads = 0;
  double bytes = 0;
};

/// Returns the expected reads for these items in blocks of `block_bytes`: items at most plan::disk_gap_bytes
/// apart are merged into reads of at most plan::disk_buffer_bytes (runtime/disk/block_reader.h). An item of
/// several blocks counts as several reads, as it does for the disk.
DiskReads reads_of(const WantedItems& items, double block_bytes);

}  // namespace gnomon::sim
