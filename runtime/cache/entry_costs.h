#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/plan.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/cache/cache_use.h"

namespace gnomon::runtime {

/// A measurement of some mini-batches that were prepared with caches.
struct PreparedWith {
  double seconds = 0;
  CacheUse use;
};

/// Fills the caches with `content` and prepares always the same mini-batches.
using PrepareWith = std::function<PreparedWith(const CacheContent& content)>;

/// What entries take in a cache; the seconds that a hit saves are 1.
EntryCosts entry_sizes(const graph::Features& features, const kernels::cpu::Topology& topology);

/// Adds what a hit of each kind saves, by DUCATI's measurement (SIGMOD 2023, section 5): the time of batches
/// without a cache, less the time with a random half of the room filled by one kind, per hit. A kind without
/// hits saves 0; if neither kind saves any time, both save the same. Other policies than "value_weight" and
/// caches of one kind need no measurement: `prepare` is not called.
EntryCosts with_savings(EntryCosts sizes, const graph::Graph& graph, const plan::Cache& cache,
                        std::int64_t bytes, std::uint64_t seed, const PrepareWith& prepare);

}  // namespace gnomon::runtime
