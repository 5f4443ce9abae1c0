#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "runtime/batch/batch_data.h"
#include "runtime/disk/array_file.h"
#include "runtime/disk/block_reader.h"
#include "runtime/disk/disk_counts.h"
#include "runtime/disk/row_cache.h"

namespace gnomon::runtime {

/// Reads feature rows from a store's file. Not thread-safe.
class RowReader {
 public:
  RowReader(const ArrayFile& array, std::int64_t row_bytes, std::shared_ptr<DiskCounts> counts);

  /// Writes the rows of vertices[places[i]], which are distinct, to row places[i] of `out`.
  void read(std::span<const graph::VertexId> vertices, std::span<const std::uint32_t> places, std::byte* out);

 private:
  ArrayFile array_;
  std::uint64_t row_bytes_;
  std::shared_ptr<DiskCounts> counts_;
  BlockReader reader_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  ///< vertices, ascending, and their places
  std::vector<Extent> extents_;
};

/// The feature rows of mini-batches, from a store's file through a cache in host memory. gather() may be
/// called by several workers concurrently.
class DiskFeatures {
 public:
  /// Precondition: the features are dense. Throws what open_array() throws.
  DiskFeatures(const graph::Graph& graph, int workers, std::shared_ptr<DiskCounts> counts);

  /// Adds the features to the mini-batch of that position in the epoch: those that gather_features()
  /// (runtime/batch/batch_data.h) adds, bit for bit.
  void gather(std::int64_t position, int worker, BatchData& data);

  /// Sets the cache for all later rows; null for none. No gather() may be running.
  void use_cache(std::unique_ptr<RowCache> cache) { cache_ = std::move(cache); }
  RowCache* cache() const { return cache_.get(); }
  /// Reads the rows of these distinct vertices consecutively into `out`.
  void read_rows(std::span<const graph::VertexId> vertices, std::byte* out);

 private:
  RowReader& reader_of(int worker);

  ArrayFile array_;
  std::int64_t row_bytes_;
  std::shared_ptr<DiskCounts> counts_;
  std::unique_ptr<RowCache> cache_;
  std::vector<std::unique_ptr<RowReader>> readers_;  ///< by worker, created on first use
};

}  // namespace gnomon::runtime
