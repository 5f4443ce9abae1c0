#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/document.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/costs/cache.h"

namespace gnomon::sim {

/// Bytes of a neighbour's id in a mini-batch (kernels::Block::indices), and of a feature, weight or embedding
/// in computations. Ids in the graph's own lists have kernels::cpu::index_bytes.
inline constexpr double local_id_bytes = 4;
inline constexpr double value_bytes = 4;

/// Peak memory of the host, or of each device, in an epoch.
struct MemoryBreakdown {
  double topology_bytes = 0;
  double features_bytes = 0;
  double cache_bytes = 0;
  double batches_bytes = 0;      ///< in preparation, in buffers and in training
  double samplers_bytes = 0;     ///< upper bound of the CPU samplers' memory, and buffers of reads in flight
  double activations_bytes = 0;  ///< of one training
  double model_bytes = 0;        ///< weights, gradients and the optimiser's two moments
  double embeddings_bytes = 0;   ///< kept from batch to batch
  double contexts_bytes = 0;     ///< of worker processes, or of the device's libraries

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("topology_bytes", self.topology_bytes);
    f("features_bytes", self.features_bytes);
    f("cache_bytes", self.cache_bytes);
    f("batches_bytes", self.batches_bytes);
    f("samplers_bytes", self.samplers_bytes);
    f("activations_bytes", self.activations_bytes);
    f("model_bytes", self.model_bytes);
    f("embeddings_bytes", self.embeddings_bytes);
    f("contexts_bytes", self.contexts_bytes);
  }

  double total() const {
    return topology_bytes + features_bytes + cache_bytes + batches_bytes + samplers_bytes +
           activations_bytes + model_bytes + embeddings_bytes + contexts_bytes;
  }
};

/// The memory that does not suffice.
enum class Shortage : std::uint8_t { none, host_memory, device_memory };

}  // namespace gnomon::sim

namespace gnomon::base {
template <>
struct EnumNames<sim::Shortage> {
  static constexpr std::array<std::pair<sim::Shortage, std::string_view>, 3> values{
      {{sim::Shortage::none, "none"},
       {sim::Shortage::host_memory, "host_memory"},
       {sim::Shortage::device_memory, "device_memory"}}};
};
}  // namespace gnomon::base

namespace gnomon::sim {

/// A plan's memory, which may exceed the machine's.
struct Memory {
  MemoryBreakdown host;
  MemoryBreakdown device;  ///< of each device; all zero if the device is the host
  CacheShares cached;
  /// Host memory that evaluation between epochs uses in excess of `host`, given that training's tensors are
  /// freed by then; absent if unknown.
  std::optional<double> evaluation_bytes{};
  Shortage shortage = Shortage::none;
  double missing_bytes = 0;

  /// The peak of the host, in training or in evaluation.
  double host_peak_bytes() const { return host.total() + evaluation_bytes.value_or(0); }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("host", self.host);
    f("device", self.device);
    f("cached", self.cached);
    f("evaluation_bytes", self.evaluation_bytes);
    f("shortage", self.shortage);
    f("missing_bytes", self.missing_bytes);
  }
};

/// Bytes that a cache leaves free beside such a use of a device's memory (plan::cache_reserve).
double cache_reserve_bytes(const MemoryBreakdown& use);

/// Bytes of the whole graph's structure in memory (kernels::cpu::resident_bytes).
double topology_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of the whole graph's structure in a store on disk, without alias tables (graph/store/store.h).
double stored_topology_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of all feature rows.
double features_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of the model's weights in fp32; by the job's sizes where they were not measured.
double parameters_bytes(const profiles::WorkloadProfile& workload);

/// Bytes stored for a reused hot vertex (runtime/reuse/hot_embeddings.h): the first layer's output and the
/// operands of its products, which are the vertex's own row and the mean of its neighbours for GraphSAGE, and
/// one sum for other models. Sums of sparse rows are bounded by the total length of the summands.
double hot_row_bytes(const profiles::WorkloadProfile& workload);

/// Returns an upper bound of one CPU sampler's memory between batches if `threads` threads share its batches
/// (kernels/cpu/sample/worker_memory.h). None if the graph's maximum degree is unknown.
std::optional<double> sampler_bytes(const profiles::WorkloadProfile& workload, int threads = 1);

/// Returns the memory of a resolved plan. A memory of unknown size always suffices and holds no cache.
/// `gains` is the time saved by a device's cache; only plan::CachePolicy::value_weight uses it. With biased
/// draws (bias above 1) the cache holds cache.budget of all rows, which may not fit; otherwise it takes
/// cache.budget of the free memory.
Memory memory_of(const profiles::Profile& profile, const plan::Plan& plan, const CacheGains& gains);

/// "device memory: 1.5 GB are missing"; empty if everything fits.
std::string shortage_text(const Memory& memory);

}  // namespace gnomon::sim
