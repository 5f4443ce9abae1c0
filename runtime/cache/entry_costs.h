#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/plan.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/cache/cache_use.h"

namespace gnomon::runtime {

/// Measurement of mini-batches prepared with a given cache content.
struct PreparedWith {
  double seconds = 0;
  CacheUse use;
};

/// Fills the caches with `content` and prepares a fixed set of mini-batches.
using PrepareWith = std::function<PreparedWith(const CacheContent& content)>;

/// Sizes of cache entries; the seconds saved by a hit are set to 1.
EntryCosts entry_sizes(const graph::Features& features, const kernels::cpu::Topology& topology);

/// Adds the time saved by a hit of each kind, measured as in DUCATI (SIGMOD 2023, section 5): the time of
/// batches without a cache minus that with half of the cache filled with random entries of one kind, per hit.
/// A kind without hits saves 0; if neither kind saves time, both count the same. Policies other than
/// "value_weight" and caches of one kind need no measurement: `prepare` is not called.
EntryCosts with_savings(EntryCosts sizes, const graph::Graph& graph, const plan::Cache& cache,
                        std::int64_t bytes, std::uint64_t seed, const PrepareWith& prepare);

}  // namespace gnomon::runtime
