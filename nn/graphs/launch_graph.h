#pragma once

#include <functional>
#include <memory>

namespace gnomon::nn {

/// Launches on a GPU that are recorded once and then started together, as often as asked, by one launch (a
/// CUDA graph). Their arguments stay those of the recording: what differs is read in device memory.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  /// Waits for the last replay.
  virtual ~LaunchGraph() = default;

  /// Calls `act` and records what it launches on the current stream, which is one for the call only, without
  /// running it. `act` must neither wait for the device nor copy from or to the host. The memory that it
  /// allocates stays the graph's as long as that lives. To be called once.
  virtual void record(const std::function<void()>& act) = 0;
  /// Starts what was recorded on the current stream, after what was started there before.
  virtual void replay() = 0;
};

}  // namespace gnomon::nn
