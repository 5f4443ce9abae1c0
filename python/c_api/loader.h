#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "python/c_api/batch_maker.h"
#include "python/c_api/graph_data.h"
#include "python/c_api/sampling.h"
#include "python/c_api/status.h"
#include "python/c_api/tensors.h"

namespace gnomon::c_api {

/// The state shared by the epochs of a loader: graph, sampling rule, and memory kept between epochs.
/// Thread-safe.
class Loader {
 public:
  Loader(std::shared_ptr<const GraphData> graph, Sampling sampling);

  const GraphData& graph() const { return *graph_; }
  const Sampling& sampling() const { return sampling_; }
  const OwnProcess& process() const { return process_; }
  MemoryPool& pool() const { return *pool_; }

  /// Returns a maker that no one else uses until it is given back.
  std::unique_ptr<BatchMaker> take_maker();
  void give_back(std::unique_ptr<BatchMaker> maker);

 private:
  OwnProcess process_;
  std::shared_ptr<const GraphData> graph_;
  Sampling sampling_;
  std::shared_ptr<MemoryPool> pool_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchMaker>> idle_;
};

}  // namespace gnomon::c_api
