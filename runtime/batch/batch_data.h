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

/// Uninitialised bytes, aligned to 64 bytes. The capacity grows and never shrinks. Copies are deep.
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

  /// Sets the size. The content is undefined afterwards.
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

/// The split of a batch's feature rows into those held by a device's cache and the rest.
struct SplitRows {
  std::vector<graph::VertexId> gathered;  ///< the vertices of the rest, which are gathered
  /// The position of each vertex's row: gathered rows first, then cached ones.
  std::vector<std::int64_t> places;
  std::vector<std::int32_t> slots;  ///< by position: the row in the cache, or -1 if it is gathered

  bool is_used() const { return !places.empty(); }
  /// The bytes that a transfer copies.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(places.size() * sizeof(std::int64_t) +
                                     slots.size() * sizeof(std::int32_t));
  }
};

/// A mini-batch in host memory, with everything that the model reads.
struct BatchData {
  /// The features, by far the largest part, lie in `memory`, which must outlive it.
  explicit BatchData(std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : features(memory) {}

  kernels::MiniBatch batch;
  /// In the graph's type. Dense: a row for each of batch.vertices. Sparse: the value of each entry; empty if
  /// all are 1. Empty if not gathered.
  AlignedBytes features;
  /// Sparse: the row pointers of batch.vertices, from 0; empty if dense or not gathered.
  std::vector<std::int64_t> feature_indptr;
  AlignedBytes feature_columns;  ///< sparse: the column of each entry (int32)
  /// If used, `features` has a row for each of split.gathered only.
  SplitRows split;
  graph::FeatureType feature_type = graph::FeatureType::fp32;
  std::int64_t columns = 0;          ///< of the features
  std::vector<std::int64_t> labels;  ///< of the seeds
  std::vector<float> degrees;        ///< true in-degree of each of batch.vertices

  /// The bytes that a transfer copies.
  std::int64_t bytes() const;
};

/// Deep copy. Reuses `to`'s memory, and grows it with slack.
void copy_batch(const BatchData& from, BatchData& to);

/// Samples the mini-batch of `seeds` and gathers its features, labels and degrees into `data`, whose memory
/// is reused. The sampler's threads share the work. `cache_slots` holds each vertex's row in a device's
/// cache, or -1; cached rows are not gathered. Empty: nothing is cached. Precondition: the features are dense
/// if it is not empty.
void prepare_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                   std::span<const graph::VertexId> seeds, BatchData& data,
                   std::span<const std::int32_t> cache_slots = {});

/// prepare_batch in two halves: sample_batch omits the features, gather_features adds them. The second half
/// may run on another thread and with another team.
void sample_batch(const graph::Graph& graph, kernels::cpu::Sampler& sampler, const kernels::BatchKey& key,
                  std::span<const graph::VertexId> seeds, BatchData& data);
void gather_features(const graph::Graph& graph, base::Team& team, BatchData& data);

}  // namespace gnomon::runtime
