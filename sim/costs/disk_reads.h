#pragma once

namespace gnomon::sim {

/// What a mini-batch wants of an array on the disk: `wanted` of `items` of `item_bytes` each, anywhere.
struct WantedItems {
  double wanted = 0;
  double items = 0;
  double item_bytes = 0;
};

struct DiskReads {
  double reads = 0;
  double bytes = 0;
};

/// Returns the expected reads for these items in blocks of `block_bytes`: those that are at most
/// plan::disk_gap_bytes apart become one of at most plan::disk_buffer_bytes (runtime/disk/block_reader.h). An
/// item of several blocks counts as so many reads, as the disk takes it.
DiskReads reads_of(const WantedItems& items, double block_bytes);

}  // namespace gnomon::sim
