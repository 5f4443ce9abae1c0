// Samples one hop of a mini-batch, for one instruction set; included by hop.cpp only. bench/README.md
// explains the design.
#if defined(GNOMON_KERNELS_CPU_HOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_HOP_INL_H_
#undef GNOMON_KERNELS_CPU_HOP_INL_H_
#else
#define GNOMON_KERNELS_CPU_HOP_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/sample/edge_drawer-inl.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/cpu/sample/table-inl.h"
#include "kernels/headroom.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

/// Three-stage software pipeline over the drawn edges: prefetch the neighbour id; load it and prefetch its
/// hash slot; assign the local id. The stages are a fixed number of edges apart, so that each finds its data
/// in the cache while memory always has requests in flight.
template <class Index>
class LocalIdPipeline {
 public:
  LocalIdPipeline(const Index* indices, Workspace& work, std::size_t max_drawn)
      : indices_(indices), work_(work) {
    const std::size_t capacity = max_drawn + 3 * neighbour_prefetch_distance;
    work.ids.reserve(capacity, 0);
    work.homes.reserve(capacity, 0);
  }

  /// Writes the local ids of the first `count` > 0 edges in the queue to `out`.
  HWY_ATTR void run(const EdgeQueue& queue, std::size_t count, std::int32_t* out) {
    const bool moved = ensure_capacity(work_, count);
    SlotTableView table = table_view(work_);
    if (!started_) {
      start(queue.edges(), table);
    } else if (moved) {
      std::transform(work_.ids.data(), work_.ids.data() + slot_prefetch_distance, work_.homes.data(),
                     [&](std::uint32_t id) { return table.home_of(id); });
    }
    assign(queue.edges(), count, table, out);
    move_to_front(work_.ids, count, slot_prefetch_distance);
    move_to_front(work_.homes, count, slot_prefetch_distance);
  }

 private:
  HWY_INLINE static void read(std::uint64_t edge, const Index* indices, const SlotTableView& table,
                              std::uint32_t* id, std::uint32_t* home) {
    *id = static_cast<std::uint32_t>(indices[edge]);
    *home = table.home_of(*id);
    table.prefetch(*home);
  }

  HWY_ATTR void start(const std::uint64_t* edges, const SlotTableView& table) {
    for (std::size_t e = 0; e < neighbour_prefetch_distance; ++e) {
      prefetch_far(indices_ + edges[e]);
    }
    for (std::size_t e = 0; e < slot_prefetch_distance; ++e) {
      read(edges[e], indices_, table, &work_.ids[e], &work_.homes[e]);
    }
    started_ = true;
  }

  HWY_ATTR void assign(const std::uint64_t* edges, std::size_t count, SlotTableView table,
                       std::int32_t* out) {
    const Index* indices = indices_;
    std::uint32_t* ids = work_.ids.data();
    std::uint32_t* homes = work_.homes.data();
    for (std::size_t e = 0; e < count; ++e) {
      prefetch_far(indices + edges[e + neighbour_prefetch_distance]);
      read(edges[e + slot_prefetch_distance], indices, table, ids + e + slot_prefetch_distance,
           homes + e + slot_prefetch_distance);
      out[e] = static_cast<std::int32_t>(table.find_or_add(ids[e], homes[e]));
    }
    work_.size = static_cast<std::int64_t>(table.size);
  }

  const Index* indices_;
  Workspace& work_;
  bool started_ = false;
};

template <class Index>
HWY_ATTR void sample_hop_of(const HopRequest& hop, const Index* indices, Workspace& work, Block& block) {
  begin_block(work.size - hop.first, block);
  EdgeDrawer drawer(hop, work, work.vertices, {hop.first, work.size}, block.indptr.data() + 1);
  EdgeQueue queue(work, drawer.max_edges());
  LocalIdPipeline<Index> pipeline(indices, work, drawer.max_edges());
  const std::size_t capacity_before = block.indices.capacity();
  const std::size_t id_capacity_before = block.edge_ids.capacity();
  std::size_t num_edges = 0;
  while (const std::size_t count = queue.fill(drawer)) {
    if (block.indices.size() < num_edges + queue.size()) {
      resize_with_headroom(block.indices, num_edges + queue.size());
    }
    pipeline.run(queue, count, block.indices.data() + num_edges);
    if (hop.edge_ids) {
      reserve_with_headroom(block.edge_ids, num_edges + queue.size());
      block.edge_ids.resize(num_edges);
      block.edge_ids.insert(block.edge_ids.end(), queue.edges(), queue.edges() + count);
    }
    queue.pop(count);
    num_edges += count;
  }
  block.indices.resize(num_edges);
  block.edge_ids.resize(hop.edge_ids ? num_edges : 0);
  if (block.indices.capacity() > capacity_before) {
    block.indices.reserve(with_headroom(num_edges));
  }
  if (block.edge_ids.capacity() > id_capacity_before) {
    block.edge_ids.reserve(with_headroom(num_edges));
  }
  block.num_sources = work.size;
}

/// Calls `work` with the topology's indices, 32-bit or 64-bit.
template <class Work>
HWY_INLINE void with_indices(const Topology& topology, Work work) {
  if (topology.narrow_indices.data() != nullptr) {
    work(topology.narrow_indices.data());
  } else {
    work(topology.indices.data());
  }
}

inline void sample_hop_with(const HopRequest& hop, Workspace& work, Block& block) {
  with_indices(*hop.topology, [&](const auto* indices) { sample_hop_of(hop, indices, work, block); });
}

inline HWY_ATTR std::size_t add_seeds_with(const std::int64_t* seeds, std::size_t count, Workspace& work) {
  ensure_capacity(work, count);
  SlotTableView table = table_view(work);
  std::size_t added = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint32_t>(seeds[i]);
    if (table.find_or_add(id, table.home_of(id)) != i) {
      break;
    }
    ++added;
  }
  work.size = static_cast<std::int64_t>(table.size);
  return added;
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
