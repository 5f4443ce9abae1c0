#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/store/scratch_file.h"

namespace gnomon::graph {

/// Append-only sequences of records, one per bucket, stored in chunks. Chunks beyond a memory limit are
/// spilled sequentially to a scratch file until their bucket is loaded. Record is trivially copyable.
template <class Record>
class Buckets {
 public:
  static constexpr std::int64_t chunk_records = 1 << 13;

  /// `directory` is that of the scratch file; if it is empty, everything stays in memory.
  Buckets(std::int64_t buckets, std::int64_t memory_bytes, std::filesystem::path directory)
      : buckets_(static_cast<std::size_t>(buckets)),
        max_chunks_(std::max<std::int64_t>(1, memory_bytes / chunk_bytes)),
        directory_(std::move(directory)) {}

  std::int64_t count() const { return std::ssize(buckets_); }
  std::int64_t size(std::int64_t bucket) const { return at(bucket).size; }
  /// Bytes moved to the scratch file so far.
  std::int64_t spilled_bytes() const { return file_ ? file_->size() : 0; }

  /// Makes room for `added` records at the end of a bucket, and returns the position of the first of them.
  std::int64_t extend(std::int64_t bucket, std::int64_t added) {
    Bucket& grown = at(bucket);
    const std::int64_t begin = grown.size;
    grown.size += added;
    while (std::ssize(grown.chunks) * chunk_records < grown.size) {
      grown.chunks.push_back({new_chunk()});
    }
    return begin;
  }
  /// A record that extend() made room for since the last call of limit_memory(). Threads may write different
  /// ones at the same time.
  Record& record(std::int64_t bucket, std::int64_t position) {
    return at(bucket)
        .chunks[static_cast<std::size_t>(position / chunk_records)]
        .memory[static_cast<std::size_t>(position % chunk_records)];
  }

  /// Moves all full chunks to the scratch file if those in memory exceed the limit, bucket after bucket, so
  /// that a bucket's chunks are contiguous. Throws Failure.
  void limit_memory() {
    if (directory_.empty() || chunks_in_memory_ <= max_chunks_) {
      return;
    }
    if (!file_) {
      file_.emplace(directory_);
    }
    for (Bucket& bucket : buckets_) {
      const auto full = static_cast<std::size_t>(bucket.size / chunk_records);
      for (; bucket.moved < full; ++bucket.moved) {
        Chunk& chunk = bucket.chunks[bucket.moved];
        chunk.offset = file_->append(std::as_bytes(std::span(chunk.memory.get(), chunk_records)));
        chunk.memory.reset();
        --chunks_in_memory_;
      }
    }
  }

  /// Calls use(span of records) for the whole bucket in the order of its records, and frees its memory.
  /// Different buckets may be taken at the same time. Throws Failure.
  template <class Use>
  void take(std::int64_t bucket, Use use) {
    Bucket& taken = at(bucket);
    std::int64_t left = taken.size;
    std::unique_ptr<Record[]> loaded;
    for (Chunk& chunk : taken.chunks) {
      const auto records = static_cast<std::size_t>(std::min(left, chunk_records));
      left -= chunk_records;
      if (chunk.offset < 0) {
        use(std::span<const Record>(chunk.memory.get(), records));
        chunk.memory.reset();
        continue;
      }
      if (!loaded) {
        loaded = new_memory();
      }
      const std::span<Record> all(loaded.get(), records);
      file_->read(chunk.offset, std::as_writable_bytes(all));
      use(std::span<const Record>(all));
    }
    taken.chunks.clear();
    taken.chunks.shrink_to_fit();
  }

 private:
  static constexpr std::int64_t chunk_bytes = chunk_records * static_cast<std::int64_t>(sizeof(Record));
  struct Chunk {
    std::unique_ptr<Record[]> memory;  ///< null once it is in the file
    std::int64_t offset = -1;          ///< in the file
  };
  struct Bucket {
    std::vector<Chunk> chunks;
    std::int64_t size = 0;
    std::size_t moved = 0;  ///< chunks in the file
  };

  Bucket& at(std::int64_t bucket) { return buckets_[static_cast<std::size_t>(bucket)]; }
  const Bucket& at(std::int64_t bucket) const { return buckets_[static_cast<std::size_t>(bucket)]; }
  static std::unique_ptr<Record[]> new_memory() {
    return std::make_unique_for_overwrite<Record[]>(static_cast<std::size_t>(chunk_records));
  }
  std::unique_ptr<Record[]> new_chunk() {
    ++chunks_in_memory_;
    return new_memory();
  }

  std::vector<Bucket> buckets_;
  std::int64_t max_chunks_;
  std::filesystem::path directory_;
  std::int64_t chunks_in_memory_ = 0;
  std::optional<ScratchFile> file_;
};

}  // namespace gnomon::graph
