#pragma once

#include <vector>

#include "plan/plan.h"

namespace gnomon::plan {

/// Whether the plan leaves features or topology on the disk.
bool reads_disk(const Plan& plan);
/// How many of the two each worker reads from there.
int arrays_on_disk(const Plan& plan);
/// Whether the plan has a cache in the host's memory, before the disk.
bool has_host_cache(const Plan& plan);
/// Whether mini-batches are sampled ahead to know what that cache should hold (policy `optimal`).
bool looks_ahead(const Plan& plan);

/// runnable_presets() but those that read the disk, which need a graph's store on a disk whose speed is
/// known.
std::vector<Plan> runnable_presets_in_memory(const Abilities& device = abilities_of(DeviceKind::host));

}  // namespace gnomon::plan
