#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/job.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// Samples mini-batches ahead of their preparation, for caches that depend on future accesses.
class AheadSampler {
 public:
  AheadSampler(std::shared_ptr<const PlacedGraph> placed, plan::Job job, int threads);

  /// Writes the vertices of a mini-batch. Thread-safe for calls with different values of `thread`, below
  /// threads(). Precondition: ids have 32 bits.
  void sample(std::int64_t epoch, std::int64_t batch, int thread, std::vector<std::uint32_t>& vertices);
  int threads() const { return static_cast<int>(samplers_.size()); }

  /// How often the mini-batches of the first two epochs use each vertex's row (PreSC#2; GNNLab, EuroSys 2022,
  /// section 6.2).
  Visits count_visits();

 private:
  struct OwnSampler {
    kernels::cpu::Sampler sampler;
    kernels::MiniBatch batch;
  };
  std::shared_ptr<const std::vector<graph::VertexId>> seeds_of(std::int64_t epoch);
  OwnSampler& sample_own(std::int64_t epoch, std::int64_t batch, int thread);

  std::shared_ptr<const PlacedGraph> placed_;
  plan::Job job_;
  std::vector<std::unique_ptr<OwnSampler>> samplers_;  ///< by thread, created on first use
  std::mutex mutex_;                                   ///< guards the next two
  std::int64_t epoch_ = -1;
  std::shared_ptr<const std::vector<graph::VertexId>> seeds_;  ///< of that epoch, shuffled
};

}  // namespace gnomon::runtime
