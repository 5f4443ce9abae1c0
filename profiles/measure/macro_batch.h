#pragma once

#include <memory>
#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "runtime/device_options.h"
#include "runtime/placement.h"

namespace gnomon::profiles {

/// A macro-batch of some mini-batches.
struct SmallMacroBatch {
  graph::Graph graph;        ///< as which mini-batches see it; its training vertices are whole mini-batches
  std::int64_t batches = 0;  ///< mini-batches for whose seeds it was sampled, the last one not whole
  double load_s = 0;         ///< the time to sample it and to gather its features, on one core
};

/// Samples one (runtime/macro/sampled_macro.h), some times. None if the job samples by weights, or has too
/// few training vertices for a few whole mini-batches.
std::optional<SmallMacroBatch> small_macro_batch(const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                                 const plan::Job& job);

/// The median times, in seconds, to draw a mini-batch from a macro-batch on the device, and to train on rows
/// that are read in place there. The macro-batch is small beside the graph, so that both find more of it in
/// caches.
struct MacroBatchTimes {
  double sample_s = 0;
  double train_s = 0;
};

/// Measures the mini-batches of SmallMacroBatch::graph one by one, a few even after the time limit.
MacroBatchTimes measure_macro_batch(const graph::Graph& macro_batch, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options);

/// The time, in seconds, that one core takes to make the structure of a macro-batch of parts with a halo
/// (runtime/macro/halo_structure.h), for each entry of the parts' lists, of a share of the graph. None if
/// there are no edges.
std::optional<double> measure_halo_entry(const graph::Graph& graph, const AccessOptions& options);

}  // namespace gnomon::profiles
