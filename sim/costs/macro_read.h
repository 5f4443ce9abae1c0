#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The data read from the disk for a macro-batch.
struct MacroRead {
  double vertices = 0;
  double bytes = 0;           ///< row pointers, adjacency lists and features as stored
  double train_vertices = 0;  ///< training vertices among them
};

/// On average: parts are assumed to have equal numbers of vertices, training vertices and bytes.
MacroRead macro_read(const profiles::WorkloadProfile& workload, const plan::Macro& macro);

}  // namespace gnomon::sim
