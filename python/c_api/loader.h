#pragma once

#include <cstdint>
#include <map>
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

  /// A maker and its number. With pinning, makers of consecutive numbers use different cores.
  struct NumberedMaker {
    int number = 0;
    std::unique_ptr<BatchMaker> maker;
  };
  /// Returns the unused maker of the lowest number, for exclusive use until it is given back.
  NumberedMaker take_maker();
  /// Returns one that uses the threads of share(), if there are any, for batches of at most `max_seeds`.
  NumberedMaker take_maker_of_caller(std::int64_t max_seeds);
  void give_back(NumberedMaker maker);
  /// The threads of the caller that prepare batches in it. Throws InputError for too many.
  void share(const gnomon_threads& threads);

 private:
  std::vector<int> cores_of(int number) const;

  OwnProcess process_;
  std::shared_ptr<const GraphData> graph_;
  Sampling sampling_;
  std::shared_ptr<MemoryPool> pool_;
  std::mutex mutex_;
  std::multimap<int, std::unique_ptr<BatchMaker>> idle_;  ///< by their numbers; below 0: of the caller
  int num_made_ = 0;
  gnomon_threads shared_{};
};

}  // namespace gnomon::c_api
