#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "schedule/machine.h"
#include "sim/simulator.h"
#include "tuner/verify/race.h"

namespace gnomon::tuner {

/// The fields that determine an epoch's time up to a few percent.
using PlanKey = std::tuple<plan::Schedule, plan::Route, int, int, int, bool, plan::Home, plan::Home,
                           plan::CachePolicy, bool>;
inline PlanKey key_of(const plan::Plan& plan) {
  return {plan.schedule, plan.route,    plan.workers,  plan.worker_threads, plan.device_threads,
          plan.fused,    plan.topology, plan.features, plan.cache.policy,   plan.prepares_beside_training()};
}

/// Returns an entrant for each plan, with its predicted epoch and turn. Raises `turn_batches`, the
/// mini-batches of a turn, to the maximum that any plan needs; behind a link all slots are used twice, as
/// pinning the memory of one takes longer than a mini-batch.
std::vector<Entrant> entrants_of(const std::vector<plan::Plan>& plans, const profiles::Profile& profile,
                                 sim::Simulator& simulator, std::int64_t& turn_batches);

/// Relative standard error of the time between updates but the first two, between which caches are filled; 0
/// with fewer than four updates.
double relative_error(const std::vector<schedule::StageSpan>& timeline);

}  // namespace gnomon::tuner
