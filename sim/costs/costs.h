#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/costs/memory.h"
#include "sim/costs/model.h"

namespace gnomon::sim {

/// The mean costs of a resolved plan's stages, and its memory. The costs include worker efficiency, the
/// device's speed-up and the effects of caches, reuse and placement, but not the hand-over copies. Throws
/// InputError if a required number, such as the disk's bandwidth, is unknown.
struct PlanCosts {
  StageCosts costs;
  Memory memory;
};
PlanCosts costs_of_plan(const profiles::Profile& profile, const plan::Plan& plan);

/// Mini-batches in an epoch of the plan. If the embeddings of all vertices are reused, all vertices are
/// seeds, not only training vertices; scaled down for a profile of a shortened epoch. Macro-batches end with
/// a mini-batch of the rest of their training vertices.
std::int64_t batches_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

/// The speed-up of preparation by `threads` threads of a device on the host's cores, without reads over the
/// link, whose time does not depend on threads. (The profile's speed-up includes them.)
double preparing_speedup(const profiles::WorkloadProfile& workload, int threads);

/// The default number of sampling devices of a factored plan: the minimum that keeps up with the trainers,
/// ceil(D / (K + 1)) for K = training, or gathering where it takes longer, over sampling (GNNLab, EuroSys
/// 2022, section 5.2), at least one and not all.
int best_samplers(const StageCosts& costs, int devices);

}  // namespace gnomon::sim
