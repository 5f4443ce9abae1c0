#include "runtime/disk/disk_lists.h"

#include <algorithm>
#include <cstring>

namespace gnomon::runtime {

std::shared_ptr<ListsFile> open_lists(const graph::Graph& graph, std::shared_ptr<DiskCounts> counts) {
  auto lists = std::make_shared<ListsFile>();
  lists->array = open_array(graph, "indices.npy", graph.indices.bytes().size());
  lists->index_bytes = graph.indices.is_narrow() ? sizeof(std::uint32_t) : sizeof(graph::VertexId);
  lists->counts = std::move(counts);
  return lists;
}

DiskLists::DiskLists(std::shared_ptr<ListsFile> lists)
    : lists_(std::move(lists)),
      reader_({lists_->array.file}),
      block_bytes_(lists_->array.file->block_bytes()),
      padded_(block_bytes_) {}

void DiskLists::sort(std::span<const std::int64_t> edges) {
  order_.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    order_.emplace_back(static_cast<std::uint64_t>(edges[i]), static_cast<std::uint32_t>(i));
  }
  std::sort(order_.begin(), order_.end());
}

/// The edges from order_[begin] on whose neighbours are in the same block.
DiskLists::Group DiskLists::group_from(std::size_t begin) const {
  Group group{offset_of(order_[begin].first) / block_bytes_, begin, begin + 1};
  while (group.end < order_.size() && offset_of(order_[group.end].first) / block_bytes_ == group.block) {
    ++group.end;
  }
  return group;
}

/// Elements are aligned to their size, so that none spans two blocks.
void DiskLists::take(const Group& group, const std::byte* block,
                     std::span<graph::VertexId> neighbours) const {
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const std::byte* from = block + offset_of(order_[i].first) % block_bytes_;
    graph::VertexId& to = neighbours[order_[i].second];
    if (lists_->index_bytes == sizeof(graph::VertexId)) {
      std::memcpy(&to, from, sizeof(to));
    } else {
      std::uint32_t id = 0;
      std::memcpy(&id, from, sizeof(id));
      to = id;
    }
  }
}

void DiskLists::keep(const Group& group, std::span<const std::byte> block) {
  if (block.size() == block_bytes_) {
    lists_->cache->keep(group.block, block.data());
  } else {
    std::copy(block.begin(), block.end(), padded_.begin());
    lists_->cache->keep(group.block, padded_.data());
  }
}

void DiskLists::read(std::span<const std::int64_t> edges, std::span<graph::VertexId> neighbours) {
  sort(edges);
  missing_.clear();
  extents_.clear();
  std::int64_t blocks = 0;
  for (std::size_t begin = 0; begin < order_.size();) {
    const Group group = group_from(begin);
    const auto take_it = [&](const std::byte* block) { take(group, block, neighbours); };
    if (lists_->cache == nullptr || !lists_->cache->find(group.block, take_it)) {
      const std::uint64_t offset = group.block * block_bytes_;
      missing_.push_back(group);
      extents_.push_back({offset, std::min(block_bytes_, lists_->array.file->size() - offset)});
    }
    begin = group.end;
    ++blocks;
  }
  const ReadCounts before = reader_.counts();
  reader_.read(extents_, [&](std::size_t i, std::uint64_t, std::span<const std::byte> block) {
    take(missing_[i], block.data(), neighbours);
    if (lists_->cache != nullptr) {
      keep(missing_[i], block);
    }
  });
  lists_->counts->add_reads(reader_.counts() - before);
  if (lists_->cache != nullptr) {
    lists_->counts->add_lists(blocks, blocks - std::ssize(missing_));
  }
}

}  // namespace gnomon::runtime
