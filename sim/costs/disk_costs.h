#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/costs/memory.h"

namespace gnomon::sim {

/// The time that the disk takes, with a full queue, to read what an average mini-batch of a resolved plan
/// misses in host memory: rows and adjacency lists, as `cached` answers the others. 0 if the plan reads
/// nothing from the disk. Throws InputError if the disk's random reads are unknown.
double batch_disk_s(const profiles::Profile& profile, const plan::Plan& plan, const CacheShares& cached);

}  // namespace gnomon::sim
