#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gnomon::runtime {

/// Requests for rows or blocks, and cache hits.
struct HitCount {
  std::int64_t requests = 0;
  std::int64_t hits = 0;
};

/// Indices into a list of vertices.
using Places = std::vector<std::uint32_t>;
/// Reads the rows of the vertices at these indices from the disk to the same indices of the output.
using ReadRows = std::function<void(const Places& places)>;

/// A cache of feature rows in host memory for a store on disk. Different mini-batches may be served
/// concurrently.
class RowCache {
 public:
  RowCache() = default;
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;
  virtual ~RowCache() = default;

  /// Announces the following mini-batches: position i of the epoch is batch order[i]. No serve() may be
  /// running.
  virtual void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) {
    (void)epoch;
    (void)order;
  }

  /// Writes the row of vertices[i] to row i of `out`: cached rows directly, the others by one call of `read`.
  /// `position` is the mini-batch's position in the epoch. Returns the number of hits. Throws what `read`
  /// throws.
  virtual std::int64_t serve(std::int64_t position, std::span<const graph::VertexId> vertices, std::byte* out,
                             const ReadRows& read) = 0;
};

}  // namespace gnomon::runtime
