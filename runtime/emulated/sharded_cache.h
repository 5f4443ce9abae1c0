#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cache/cache_choice.h"
#include "runtime/emulated/device_arena.h"
#include "runtime/emulated/emulated_hardware.h"
#include "runtime/emulated/shared_link.h"
#include "runtime/placement.h"
#include "runtime/preparation/device_graph.h"

namespace gnomon::runtime::emulated {

/// A cache that is partitioned over linked devices (Quiver, arXiv 2305.10863; DSP, PPoPP 2023, section 3).
/// All parts are in one contiguous address range, as the memory of several GPUs can be mapped, so that the
/// kernels of every device read it like a cache of their own. A part counts as memory of its device; reads by
/// other devices cross their link.
class ShardedCache {
 public:
  /// A device that holds a part: its memory, and the link over which the part comes from the host.
  struct Member {
    std::shared_ptr<DeviceArena> arena;
    SharedLink* link = nullptr;
  };

  /// Copies the rows and lists of `parts`, one for each member. Throws ArenaIsFull.
  ShardedCache(const PlacedGraph& graph, const std::vector<CacheContent>& parts,
               std::span<const Member> members);

  /// Sets the caches of `graph`, the device graph of member `number`; `hardware` reads the other members'
  /// parts over its peer link. `graph` shares the ownership of `cache`. Throws ArenaIsFull.
  static void place(const std::shared_ptr<const ShardedCache>& cache, std::size_t number,
                    const Member& member, EmulatedHardware& hardware, DeviceGraph& graph);

 private:
  /// One array, whose part p is the bytes from begins[p] to begins[p + 1].
  struct Array {
    std::shared_ptr<std::byte> bytes;
    std::vector<std::size_t> begins;
  };
  /// The vertices of all parts, one part after the other.
  struct Vertices {
    std::vector<graph::VertexId> all;
    std::vector<std::size_t> begins{0};
    void add(const std::vector<graph::VertexId>& part);
  };

  static Array array_of(std::size_t element_bytes, const std::vector<std::size_t>& begins,
                        std::size_t more = 0);
  void copy_rows(std::size_t part);
  void copy_lists(const kernels::cpu::Topology& topology, std::size_t part);
  std::size_t bytes_of(std::size_t part) const;

  graph::Features features_;
  Vertices rows_, lists_;
  std::vector<std::int64_t> edge_begins_{0};  ///< of each list
  Array row_bytes_, indptr_, wide_, narrow_, columns_;
  std::vector<std::shared_ptr<const void>> reservations_;  ///< in each member's memory
};

}  // namespace gnomon::runtime::emulated
