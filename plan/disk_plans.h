#pragma once

#include <vector>

#include "plan/plan.h"

namespace gnomon::plan {

/// Whether the plan leaves features or topology on the disk.
bool reads_disk(const Plan& plan);
/// The number of these two arrays that each worker reads from the disk.
int arrays_on_disk(const Plan& plan);
/// Whether the plan caches data of the disk in host memory.
bool has_host_cache(const Plan& plan);
/// Whether mini-batches are sampled ahead to decide what that cache holds (policy `optimal`).
bool looks_ahead(const Plan& plan);

/// runnable_presets() without those that read the disk: they require a graph store on a disk of known speed.
std::vector<Plan> runnable_presets_in_memory(const Abilities& device = abilities_of(DeviceKind::host));

}  // namespace gnomon::plan
