#include "python/c_api/loader.h"

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "base/cores.h"
#include "base/error.h"
#include "kernels/cpu/sample/split.h"

namespace gnomon::c_api {
namespace {
/// Enough for the tensors of the batches that are usually in flight.
constexpr std::size_t max_kept_blocks = 64;

/// The numbers of makers that use the caller's threads; `alone`: only to gather.
constexpr int of_caller = -1;
constexpr int of_caller_alone = -2;

/// The largest number of edges that `seeds` vertices sample.
double max_edges_of(std::int64_t seeds, const std::vector<int>& fanouts) {
  double edges = 0;
  auto frontier = static_cast<double>(seeds);
  for (const int fanout : fanouts) {
    frontier *= fanout < 0 ? kernels::max_fanout : fanout;
    edges += frontier;
  }
  return edges;
}

/// Whether threads gain by sampling a batch together: they meet several times in each hop, and a forest is
/// sampled tree by tree.
bool is_worth_sharing(const Sampling& sampling, std::int64_t max_seeds) {
  constexpr double min_edges = 1 << 18;
  return !sampling.disjoint && max_edges_of(max_seeds, sampling.fanouts) >= min_edges;
}

/// Calls body(0) … body(members - 1) on threads of the caller, each of which takes the next member.
base::ForkJoin fork_join_of(const gnomon_threads& threads) {
  return [run = threads.run](int members, const std::function<void(int)>& body) {
    struct Members {
      const std::function<void(int)>* body;
      int count;
      std::atomic<int> next{0};
    } all{&body, members};
    const auto take = [](void* data) {
      auto& left = *static_cast<Members*>(data);
      for (int member = left.next++; member < left.count; member = left.next++) {
        (*left.body)(member);
      }
    };
    run(take, &all, static_cast<unsigned>(members), 0);
  };
}

}  // namespace

Loader::Loader(std::shared_ptr<const GraphData> graph, Sampling sampling)
    : graph_(std::move(graph)),
      sampling_(std::move(sampling)),
      pool_(std::make_shared<MemoryPool>(max_kept_blocks)) {}

Loader::NumberedMaker Loader::take_maker() {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (auto idle = idle_.lower_bound(0); idle != idle_.end()) {
      auto first = idle_.extract(idle);
      return {first.key(), std::move(first.mapped())};
    }
    number = num_made_++;
  }
  const kernels::cpu::BatchThreads threads{sampling_.threads_per_batch, cores_of(number), {}};
  return {number, std::make_unique<BatchMaker>(graph_, sampling_, pool_, threads, threads)};
}

Loader::NumberedMaker Loader::take_maker_of_caller(std::int64_t max_seeds) {
  gnomon_threads threads;
  {
    const std::lock_guard lock(mutex_);
    threads = shared_;
  }
  if (threads.run == nullptr) {
    return take_maker();
  }
  const bool together = is_worth_sharing(sampling_, max_seeds);
  const int number = together ? of_caller : of_caller_alone;
  {
    const std::lock_guard lock(mutex_);
    if (auto idle = idle_.find(number); idle != idle_.end()) {
      return {number, std::move(idle_.extract(idle).mapped())};
    }
  }
  const kernels::cpu::BatchThreads shared{threads.count, {}, fork_join_of(threads)};
  return {number, std::make_unique<BatchMaker>(graph_, sampling_, pool_,
                                               together ? shared : kernels::cpu::BatchThreads{}, shared)};
}

void Loader::share(const gnomon_threads& threads) {
  if (threads.run != nullptr && (threads.count < 1 || threads.count > kernels::cpu::max_parts)) {
    throw base::InputError("threads.count", "must be 1 to " + std::to_string(kernels::cpu::max_parts));
  }
  const std::lock_guard lock(mutex_);
  shared_ = threads;
  idle_.erase(idle_.begin(), idle_.lower_bound(0));
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
