#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The time of training that reads features in place, in a macro-batch if there is one, over that of training
/// on gathered rows; if it was not measured, with `gather_s` to gather them. 1 for plans that gather.
double fused_ratio(const profiles::WorkloadProfile& workload, const plan::Plan& plan, double gather_s);

/// The time of training after preparation by the device that reads over the link for `link_s`, over that
/// after reading all data over it: training gets faster the less the preparation before it waits.
double waiting_ratio(const profiles::WorkloadProfile& workload, const plan::Plan& plan, double link_s);

/// The time of training by recorded launches over that of launching one by one. Where it was not measured,
/// it saves the launches, if their time is known, but no more than leaves the device the time to write and
/// read the activations, and computes for mini-batches that are padded to the largest. 1 for plans that do
/// not record.
double graphs_ratio(const profiles::Profile& profile, const plan::Plan& plan);

}  // namespace gnomon::sim
