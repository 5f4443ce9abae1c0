#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// A mini-batch that is drawn among the resident vertices of a macro-batch of whole parts, relative to one
/// that is drawn from the graph: sizes and times.
struct ResidentCosts {
  double edges = 1;
  double vertices = 1;
  double cpu_batch = 1;
  double train = 1;
};

/// By the counts in the profile, which are interpolated: first the share of neighbours that are resident, by
/// the share of the parts and with the hubs, which are cached as by out-degree; then the sizes by that share.
/// Times fall with sizes as those of the profile's thin mini-batches, or else in proportion. All 1 if nothing
/// was counted.
ResidentCosts resident_costs(const profiles::WorkloadProfile& workload, const plan::Macro& macro);

}  // namespace gnomon::sim
