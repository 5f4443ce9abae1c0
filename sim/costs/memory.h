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

/// What lies in the memory of the host, or of each device, at the peak of an epoch.
struct MemoryBreakdown {
  double topology_bytes = 0;
  double features_bytes = 0;
  double cache_bytes = 0;
  double batches_bytes = 0;      ///< in workers' hands, in buffers and in training
  double samplers_bytes = 0;     ///< what CPU samplers keep from batch to batch, at most, and reads in flight
  double activations_bytes = 0;  ///< of one training
  double model_bytes = 0;        ///< weights, gradients and the optimiser's two moments
  double embeddings_bytes = 0;   ///< kept from batch to batch
  double contexts_bytes = 0;     ///< of processes, or of the device's libraries

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

/// What does not fit.
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

/// A plan's memory. That it does not fit is an outcome.
struct Memory {
  MemoryBreakdown host;
  MemoryBreakdown device;  ///< each of them; all zero when the device is the host
  CacheShares cached;
  /// What evaluating the model between two epochs takes of the host beyond `host`, as the tensors of training
  /// are freed by then; absent if the profile does not tell.
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

/// Bytes of the whole graph's structure in memory (kernels::cpu::resident_bytes).
double topology_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of the whole graph's structure in a store on disk, without alias tables (graph/store/store.h).
double stored_topology_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of all feature rows.
double features_bytes(const profiles::WorkloadProfile& workload);
/// Bytes of the model's weights in fp32; by the job's sizes where they were not measured.
double parameters_bytes(const profiles::WorkloadProfile& workload);

/// Bytes that reusing a hot vertex keeps (runtime/reuse/hot_embeddings.h): the first layer's output, and the
/// rows that the layer's products multiply: with GraphSAGE the vertex's own and the mean of its neighbours,
/// with other models one sum. Sums of sparse rows are at most as long as all that they add up.
double hot_row_bytes(const profiles::WorkloadProfile& workload);

/// Returns the maximum memory that one CPU sampler keeps from batch to batch if `threads` threads share its
/// batches (kernels/cpu/sample/worker_memory.h). None if the graph's maximum degree is unknown.
std::optional<double> sampler_bytes(const profiles::WorkloadProfile& workload, int threads = 1);

/// Returns the memory of a resolved plan. A memory of unknown size is never short and holds no cache. `gains`
/// is what a device's cache saves; only plan::CachePolicy::value_weight reads it. A cache whose rows draws
/// prefer (bias above 1) holds cache.budget of all rows, and may not fit; any other takes cache.budget of the
/// memory that is left.
Memory memory_of(const profiles::Profile& profile, const plan::Plan& plan, const CacheGains& gains);

/// "device memory: 1.5 GB are missing"; empty when everything fits.
std::string shortage_text(const Memory& memory);

}  // namespace gnomon::sim
