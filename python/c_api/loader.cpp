#include "python/c_api/loader.h"

#include <utility>

#include "base/cores.h"

namespace gnomon::c_api {
namespace {
/// Enough for the tensors of the batches that are usually in flight.
constexpr std::size_t max_kept_blocks = 64;
}  // namespace

Loader::Loader(std::shared_ptr<const GraphData> graph, Sampling sampling)
    : graph_(std::move(graph)),
      sampling_(std::move(sampling)),
      pool_(std::make_shared<MemoryPool>(max_kept_blocks)) {}

Loader::NumberedMaker Loader::take_maker() {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto first = idle_.extract(idle_.begin());
      return {first.key(), std::move(first.mapped())};
    }
    number = num_made_++;
  }
  return {number, std::make_unique<BatchMaker>(graph_, sampling_, pool_, cores_of(number))};
}

void Loader::give_back(NumberedMaker maker) {
  const std::lock_guard lock(mutex_);
  idle_.emplace(maker.number, std::move(maker.maker));
}

/// The cores that a maker's threads are pinned to.
std::vector<int> Loader::cores_of(int number) const {
  std::vector<int> cores;
  if (sampling_.pin_threads) {
    const std::vector<int> order = base::pinning_order(base::allowed_cores());
    const auto threads = static_cast<std::size_t>(sampling_.threads_per_batch);
    for (std::size_t i = 0; i < threads; ++i) {
      cores.push_back(order[(static_cast<std::size_t>(number) * threads + i) % order.size()]);
    }
  }
  return cores;
}

}  // namespace gnomon::c_api
