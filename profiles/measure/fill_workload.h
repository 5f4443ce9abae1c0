#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "profiles/measure/averaging.h"
#include "profiles/measure/disk_batch.h"
#include "profiles/measure/macro_batch.h"
#include "profiles/measure/one_hop.h"
#include "profiles/measure/ratio.h"
#include "profiles/measure/refresh.h"
#include "profiles/measure/rounds.h"
#include "profiles/measure/statistics.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// The mean of a quantity over an epoch's mini-batches relative to a full mini-batch: only the last one may
/// be smaller. If its ratio was not measured, the ratio of the seeds is used.
class EpochMean {
 public:
  EpochMean(std::int64_t batches, std::optional<double> partial_share)
      : batches_(static_cast<double>(batches)), partial_share_(partial_share) {}

  double factor(const Ratio& partial) const {
    return partial_share_ ? (batches_ - 1 + partial.value().value_or(*partial_share_)) / batches_ : 1;
  }
  /// The same for a time, including the additional time of the first mini-batch.
  double factor(const Ratio& partial, const Ratio& first) const {
    return factor(partial) + (first.value().value_or(1) - 1) / batches_;
  }

 private:
  double batches_;
  std::optional<double> partial_share_;
};

/// The graph and the job, of `batches` mini-batches an epoch, with features in the form of the device.
WorkloadProfile describe(const graph::Graph& graph, const plan::Job& job, std::int64_t batches,
                         const runtime::DeviceOptions& device);

/// Sets stage times, sizes and speed-ups from the rounds that were measured.
void fill(WorkloadProfile& workload, const Measured& measured, const StopRule& rule, const EpochMean& mean);

/// Sets the sampling parts of cpu_batch and device_batch, where stages that only sample were measured.
void fill_sampling(WorkloadProfile& workload, const Measured& measured);

/// Sets what it takes to make lists of the edges that are sampled for a macro-batch. To be called after
/// fill_sampling().
void fill_macro_load(WorkloadProfile& workload, const SmallMacroBatch& macro);
/// Sets what is faster in a macro-batch than in the graph. To be called after fill_sampling().
void fill_macro_batch(WorkloadProfile& workload, const MacroBatchTimes& times);
void fill_disk_batch(WorkloadProfile& workload, const DiskBatchTimes& times);
void fill_one_hop(WorkloadProfile& workload, const std::optional<OneHopTimes>& times);
void fill_refresh(WorkloadProfile& workload, const std::optional<RefreshTimes>& times);
/// Sets the parts of a GPU's preparation that read over the link: the difference to the preparation with all
/// data in device memory or, if the memory is too small for that, all of it.
void fill_link_parts(WorkloadProfile& workload, const std::optional<Resident>& resident);
/// Sets training's share of the device memory, given the peak use `peak_bytes`.
void fill_memory(WorkloadProfile& workload, double peak_bytes, double weight_bytes);
/// Sets the time that devices on the host's cores spend on averaging gradients.
void fill_averaging(WorkloadProfile& workload, const AveragingTimes& times);

}  // namespace gnomon::profiles
