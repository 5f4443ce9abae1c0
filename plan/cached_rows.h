#pragma once

#include "plan/plan.h"

namespace gnomon::plan {

/// Whether a plan's draws are biased towards neighbours whose feature rows its cache holds (A3GNN), so that
/// the cache's content must be known before the first mini-batch is sampled.
inline bool prefers_cached(const Plan& plan) { return plan.bias > 1 && plan.cache.is_used(); }

/// Whether the CPU's workers omit the rows that the device's cache holds. What other caches hold is decided
/// while workers prepare already.
inline bool leaves_out_cached_rows(const Plan& plan) {
  return prefers_cached(plan) && plan.uses_cpu_route() && !plan.prepares_samples();
}

}  // namespace gnomon::plan
