#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/cache/cache_use.h"
#include "runtime/disk/block_reader.h"

namespace gnomon::runtime {

/// Counters of disk reads and host cache hits. Thread-safe.
class DiskCounts {
 public:
  void add_reads(const ReadCounts& counts) {
    reads_ += counts.reads;
    bytes_ += counts.bytes;
  }
  void add_rows(std::int64_t requests, std::int64_t hits) {
    rows_ += requests;
    row_hits_ += hits;
  }
  void add_lists(std::int64_t requests, std::int64_t hits) {
    lists_ += requests;
    list_hits_ += hits;
  }

  /// Since the last call.
  ReadCounts take_reads() { return {reads_.exchange(0), bytes_.exchange(0)}; }
  CacheUse take_cache_use() {
    return {.rows = rows_.exchange(0),
            .row_hits = row_hits_.exchange(0),
            .lists = lists_.exchange(0),
            .list_hits = list_hits_.exchange(0)};
  }

 private:
  std::atomic<std::int64_t> reads_ = 0, bytes_ = 0;
  std::atomic<std::int64_t> rows_ = 0, row_hits_ = 0, lists_ = 0, list_hits_ = 0;
};

}  // namespace gnomon::runtime
