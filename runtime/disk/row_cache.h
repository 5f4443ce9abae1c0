#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gnomon::runtime {

/// Requests of rows or blocks, and how many of them a cache answered.
struct HitCount {
  std::int64_t requests = 0;
  std::int64_t hits = 0;
};

/// Places in a list of vertices.
using Places = std::vector<std::uint32_t>;
/// Reads the rows of the vertices at these places from the disk to their places in the output.
using ReadRows = std::function<void(const Places& places)>;

/// Copies of feature rows in host memory, in front of the disk. Several threads serve different mini-batches
/// at the same time.
class RowCache {
 public:
  RowCache() = default;
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;
  virtual ~RowCache() = default;

  /// The mini-batches that follow: position i of the epoch is batch order[i]. Nothing is being served.
  virtual void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) {
    (void)epoch;
    (void)order;
  }

  /// Writes the row of vertices[i] to `out` + i rows: those it holds itself, the others by one call of
  /// `read`. `position` is the mini-batch's in the epoch. Returns how many it held. Throws what `read`
  /// throws.
  virtual std::int64_t serve(std::int64_t position, std::span<const graph::VertexId> vertices, std::byte* out,
                             const ReadRows& read) = 0;
};

}  // namespace gnomon::runtime
