#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/sampled_epochs.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// What a device caches.
enum class CachedKind : std::uint8_t { rows, lists };

/// The preparation of mini-batches on a device with a cache of random content.
struct CachedPreparation {
  double hits = 0;     ///< of all reads of that kind
  double batch_s = 0;  ///< median time of preparing a mini-batch
};

/// Measures how long a device with a link takes to prepare mini-batches, for caches that hold about 0,
/// 1/steps … of all rows or of all lists; as many mini-batches for each size as the time limit leaves, three
/// at least. Throws InputError for a device without caches.
std::vector<CachedPreparation> prepare_with_random_caches(const graph::Graph& graph, const plan::Job& job,
                                                          const runtime::DeviceOptions& device,
                                                          CachedKind kind, int steps,
                                                          const AccessOptions& options);

}  // namespace gnomon::profiles
