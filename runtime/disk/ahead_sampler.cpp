#include "runtime/disk/ahead_sampler.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/team.h"
#include "graph/epoch_order.h"

namespace gnomon::runtime {

AheadSampler::AheadSampler(std::shared_ptr<const PlacedGraph> placed, plan::Job job, int threads)
    : placed_(std::move(placed)),
      job_(std::move(job)),
      samplers_(static_cast<std::size_t>(std::max(1, threads))) {}

std::shared_ptr<const std::vector<graph::VertexId>> AheadSampler::seeds_of(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (epoch != epoch_) {
    seeds_ = std::make_shared<const std::vector<graph::VertexId>>(
        graph::epoch_order(placed_->graph.train, job_.seed, static_cast<std::uint64_t>(epoch)));
    epoch_ = epoch;
  }
  return seeds_;
}

AheadSampler::OwnSampler& AheadSampler::sample_own(std::int64_t epoch, std::int64_t batch, int thread) {
  auto& own = samplers_[static_cast<std::size_t>(thread)];
  if (!own) {
    own =
        std::make_unique<OwnSampler>(OwnSampler{kernels::cpu::Sampler(placed_->topology, job_.fanouts), {}});
  }
  const auto seeds = seeds_of(epoch);
  own->sampler.sample({job_.seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(batch)},
                      graph::batch_seeds(*seeds, job_.batch_size, batch), own->batch);
  return *own;
}

void AheadSampler::sample(std::int64_t epoch, std::int64_t batch, int thread,
                          std::vector<std::uint32_t>& vertices) {
  const auto& sampled = sample_own(epoch, batch, thread).batch.vertices;
  vertices.resize(sampled.size());
  std::transform(sampled.begin(), sampled.end(), vertices.begin(),
                 [](graph::VertexId vertex) { return static_cast<std::uint32_t>(vertex); });
}

Visits AheadSampler::count_visits() {
  constexpr std::int64_t epochs = 2;
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(placed_->graph.num_vertices()));
  const std::int64_t batches = graph::num_batches(std::ssize(placed_->graph.train), job_.batch_size);
  base::Team team(threads());
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    team.step([&](int member) {
      for (std::int64_t batch = member; batch < batches; batch += team.size()) {
        for (const auto vertex : sample_own(epoch, batch, member).batch.vertices) {
          std::atomic_ref(counts[static_cast<std::size_t>(vertex)]).fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  return {std::move(counts), {}};
}

}  // namespace gnomon::runtime
