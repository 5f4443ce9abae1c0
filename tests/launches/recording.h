#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nn/graphs/launch_graph.h"

namespace gnomon::test {

/// What is launched on the double device instead of being done, to be done later on the same memory, which it
/// keeps: a CUDA graph's double.
class Recording final : public nn::LaunchGraph {
 public:
  explicit Recording(std::atomic<std::int64_t>& launches) : launches_(launches) {}

  void record(const std::function<void()>& act) override;
  void replay() override;

  /// The one that is being made, or null.
  static Recording* current();
  /// Both may be called by several threads, as autograd has its own.
  void add(std::function<void()> call);
  void keep(std::shared_ptr<const void> memory);

 private:
  std::atomic<std::int64_t>& launches_;  ///< counts replays, one launch each
  std::mutex mutex_;
  std::vector<std::function<void()>> calls_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace gnomon::test
