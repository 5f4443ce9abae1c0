#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/costs/memory.h"
#include "sim/costs/model.h"

namespace gnomon::sim {

/// The mean costs of a resolved plan's stages, and its memory. The costs include worker efficiency, the
/// device's speed-up and the effects of caches, reuse and placement, but not the hand-over copies. Throws
/// InputError if a number that the plan needs is unknown (a disk's bandwidth, for instance).
struct PlanCosts {
  StageCosts costs;
  Memory memory;
};
PlanCosts costs_of_plan(const profiles::Profile& profile, const plan::Plan& plan);

/// Mini-batches in an epoch of the plan: where the embeddings of all vertices are reused, all vertices are
/// seeds, not only training vertices. A profile of a shorter epoch has as much fewer of them.
std::int64_t batches_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

/// How much faster than one thread `threads` of a device on the host's cores prepare a mini-batch, reads over
/// the link apart: those take their time whatever the threads, and the profile's speed-up is that of both.
double preparing_speedup(const profiles::WorkloadProfile& workload, int threads);

/// Devices that sample, where a factored plan leaves it open: the fewest that keep up with the trainers,
/// ceil(D / (K + 1)) for K = training, or gathering where it takes longer, over sampling (GNNLab, EuroSys
/// 2022, section 5.2), at least one and not all.
int best_samplers(const StageCosts& costs, int devices);

}  // namespace gnomon::sim
