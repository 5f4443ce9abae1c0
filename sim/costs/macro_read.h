#pragma once

#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The data read from the disk for a macro-batch.
struct MacroRead {
  double vertices = 0;
  double bytes = 0;           ///< row pointers, adjacency lists and features as stored
  double feature_bytes = 0;   ///< of these, features
  double train_vertices = 0;  ///< training vertices among them
};

/// On average: parts are assumed to have equal numbers of vertices, training vertices and bytes.
MacroRead macro_read(const profiles::WorkloadProfile& workload, const plan::Macro& macro);

/// The macro-batches of an epoch in their order, of the parts of the profiled store; macro_read() for each if
/// the profile is of a store without the plan's parts.
std::vector<MacroRead> macro_reads(const profiles::WorkloadProfile& workload, const plan::Macro& macro,
                                   std::uint64_t epoch);

}  // namespace gnomon::sim
