#pragma once

#include <functional>
#include <memory>

namespace gnomon::nn {

/// Kernel launches that are recorded once and then started repeatedly by a single launch (a CUDA graph).
/// Their arguments are fixed at the recording; values that vary must be read from device memory.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  /// Waits for the last replay.
  virtual ~LaunchGraph() = default;

  /// Calls `act` on a stream made for this call and records its launches without running them. `act` must
  /// neither wait for the device nor copy from or to the host. The graph keeps the memory that `act`
  /// allocates for its own lifetime. To be called once.
  virtual void record(const std::function<void()>& act) = 0;
  /// Starts the recorded launches on the current stream, after earlier work on the stream.
  virtual void replay() = 0;
};

}  // namespace gnomon::nn
