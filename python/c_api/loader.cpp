#include "python/c_api/loader.h"

#include <utility>

namespace gnomon::c_api {
namespace {
/// Enough for the tensors of the batches that are usually in flight.
constexpr std::size_t max_kept_blocks = 64;
}  // namespace

Loader::Loader(std::shared_ptr<const GraphData> graph, Sampling sampling)
    : graph_(std::move(graph)),
      sampling_(std::move(sampling)),
      pool_(std::make_shared<MemoryPool>(max_kept_blocks)) {}

std::unique_ptr<BatchMaker> Loader::take_maker() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto maker = std::move(idle_.back());
      idle_.pop_back();
      return maker;
    }
  }
  return std::make_unique<BatchMaker>(graph_, sampling_, pool_);
}

void Loader::give_back(std::unique_ptr<BatchMaker> maker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(maker));
}

}  // namespace gnomon::c_api
