#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "runtime/emulated/device_arena.h"
#include "runtime/emulated/emulated_hardware.h"
#include "runtime/emulated/shared_link.h"
#include "runtime/placement.h"
#include "runtime/preparation/device_graph.h"

namespace gnomon::runtime::emulated {

/// Copies of macro-batches' graphs in a device's memory, each made while mini-batches are drawn from the one
/// before. copy() and last() are called by one thread, take() by another one.
class GraphCopies {
 public:
  /// `hardware` makes the copies; nothing else may use it at the same time. It must outlive the object, as
  /// `link` must.
  GraphCopies(EmulatedHardware& hardware, std::shared_ptr<DeviceArena> arena, SharedLink& link)
      : hardware_(hardware), arena_(std::move(arena)), link_(link) {}

  /// Copies a graph, and the rows of its features that `wanted_rows` marks (empty: all). Throws ArenaIsFull.
  void copy(std::shared_ptr<const PlacedGraph> graph, std::span<const std::uint8_t> wanted_rows);
  /// The last copied graph; null if there is none.
  const PlacedGraph* last() const { return last_.get(); }
  /// Returns the copy of a graph. Precondition: there is one that has not been taken.
  std::unique_ptr<DeviceGraph> take(const PlacedGraph* graph);
  /// Frees the copies that have not been taken. Precondition: no other function is running.
  void clear();

 private:
  void copy_rows(const graph::Features& features, std::span<const std::uint8_t> wanted_rows,
                 DeviceGraph& graph);

  EmulatedHardware& hardware_;
  std::shared_ptr<DeviceArena> arena_;
  SharedLink& link_;
  std::shared_ptr<const PlacedGraph> last_;
  std::mutex mutex_;                                                   ///< guards the next one
  std::map<const PlacedGraph*, std::unique_ptr<DeviceGraph>> copies_;  ///< that have not been taken
};

}  // namespace gnomon::runtime::emulated
