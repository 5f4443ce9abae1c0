#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"
#include "runtime/disk/array_file.h"
#include "runtime/disk/block_reader.h"
#include "runtime/disk/disk_counts.h"
#include "runtime/disk/recent_cache.h"

namespace gnomon::runtime {

/// Adjacency lists in a store's file.
struct ListsFile {
  ArrayFile array;
  std::uint64_t index_bytes = 4;  ///< of each neighbour: 4 or 8
  /// Cache of the file's blocks, by block number; null for none. Must not be set while lists are read.
  std::unique_ptr<RecentCache> cache{};
  std::shared_ptr<DiskCounts> counts{};
};

/// Opens the lists of a graph's store. Throws what open_array() throws.
std::shared_ptr<ListsFile> open_lists(const graph::Graph& graph, std::shared_ptr<DiskCounts> counts);

/// Reads neighbours from the blocks that contain them; each block once per call.
class DiskLists final : public kernels::cpu::NeighbourReader {
 public:
  explicit DiskLists(std::shared_ptr<ListsFile> lists);

  void read(std::span<const std::int64_t> edges, std::span<graph::VertexId> neighbours) override;

 private:
  /// Edges of the same block: a range of order_.
  struct Group {
    std::uint64_t block = 0;
    std::size_t begin = 0, end = 0;
  };

  void sort(std::span<const std::int64_t> edges);
  std::uint64_t offset_of(std::uint64_t edge) const {
    return lists_->array.first_byte + edge * lists_->index_bytes;
  }
  Group group_from(std::size_t begin) const;
  void take(const Group& group, const std::byte* block, std::span<graph::VertexId> neighbours) const;
  void keep(const Group& group, std::span<const std::byte> block);

  std::shared_ptr<ListsFile> lists_;
  BlockReader reader_;
  std::uint64_t block_bytes_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  ///< edges, ascending, and their places
  std::vector<Group> missing_;
  std::vector<Extent> extents_;    ///< of the missing groups
  std::vector<std::byte> padded_;  ///< the file's last block, which may be shorter than others
};

}  // namespace gnomon::runtime
