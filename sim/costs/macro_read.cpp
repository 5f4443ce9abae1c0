#include "sim/costs/macro_read.h"

#include "sim/costs/memory.h"

namespace gnomon::sim {

MacroRead macro_read(const profiles::WorkloadProfile& workload, const plan::Macro& macro) {
  const double part = static_cast<double>(macro.resident) / macro.partitions;
  const double bytes = stored_topology_bytes(workload) + features_bytes(workload);
  return {part * static_cast<double>(workload.vertices), part * bytes,
          part * static_cast<double>(workload.train_vertices)};
}

}  // namespace gnomon::sim
