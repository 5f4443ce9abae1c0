#pragma once

#include <cstdint>
#include <span>

#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/device/sampler.h"
#include "plan/job.h"
#include "plan/vocabulary.h"
#include "runtime/cache/cache_choice.h"

namespace gnomon::runtime {

/// Whether the policy depends on how often sampled mini-batches use a vertex.
bool needs_visits(plan::CachePolicy policy);

/// Mini-batches after which the counts of a long epoch change little.
inline constexpr std::int64_t max_presampled_batches = std::int64_t{1} << 14;

/// Counts how often the mini-batches of the job's first two epochs use each vertex's row and list (PreSC#2;
/// GNNLab, EuroSys 2022, section 6.2), by sampling them on the device. Mini-batches are a pure function of
/// the seed, so these are exactly the epochs that will be trained. If they have more than `max_batches`,
/// samples that many at equal distances. `sampler` is the executor's; the host waits for the device.
template <class Executor>
Visits presample(Executor& executor, kernels::device::Sampler<Executor>& sampler, std::int64_t num_vertices,
                 std::span<const graph::VertexId> train, const plan::Job& job, const base::Progress& progress,
                 std::int64_t max_batches = max_presampled_batches);

}  // namespace gnomon::runtime
