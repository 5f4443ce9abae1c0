#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/graph.h"
#include "kernels/block.h"
#include "kernels/cpu/sample/sampler.h"

namespace gnomon::runtime {

/// Uninitialised bytes at a 64-byte boundary that grow and never shrink. Copies are deep.
class AlignedBytes {
 public:
  /// `memory` must outlive it.
  explicit AlignedBytes(std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : bytes_(nullptr, Release{memory, 0}) {}
  /// In the default memory.
  AlignedBytes(const AlignedBytes& other) : AlignedBytes() { *this = other; }
  AlignedBytes(AlignedBytes&&) noexcept = default;
  AlignedBytes& operator=(const AlignedBytes& other);
  AlignedBytes& operator=(AlignedBytes&&) noexcept = default;
  ~AlignedBytes() = default;

  /// Makes it `size` bytes long; what they hold is not defined afterwards.
  void resize(std::size_t size);
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t alignment = 64;
  struct Release {
    std::pmr::memory_resource* memory;
    std::size_t capacity;
    void operator()(std::byte* bytes) const { memory->deallocate(bytes, capacity, alignment); }
  };
  std::unique_ptr<std::byte, Release> bytes_;
  std::size_t size_ = 0;
};

/// All that the model reads of one mini-batch: a host or device slot's content.
struct BatchData {
  /// `memory` is the features', by far the largest part, and must outlive it.
  explicit BatchData(std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : features(memory) {}

  kernels::MiniBatch batch;
  AlignedBytes features;  ///< a row for each of batch.vertices, in the graph's own type; or none yet
  graph::FeatureType feature_type = graph::FeatureType::fp32;
  std::int64_t columns = 0;
  std::vector<std::int64_t> labels;  ///< of the seeds
  std::vector<float> degrees;        ///< true in-degree of each of batch.vertices

  /// What a transfer copies.
  std::int64_t bytes() const;
};

/// Copies everything; `to`'s memory is reused and, where it must grow, has slack afterwards.
void copy_batch(const BatchData& from, BatchData& to);

/// Samples the mini-batch of `seeds` and gathers what belongs to it into `data`, whose memory is reused. The
/// sampler's threads share both.
void prepare_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                   std::span<const graph::VertexId> seeds, BatchData& data);

/// prepare_batch in two halves. The first leaves the features out; the second, on any thread and with any
/// team, adds them.
void sample_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                  std::span<const graph::VertexId> seeds, BatchData& data);
void gather_features(const graph::Graph& graph, base::Team& team, BatchData& data);

}  // namespace gnomon::runtime
