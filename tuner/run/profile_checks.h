#pragma once

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// Throws InputError unless a profile is of this graph, and of a job with the same model and mini-batches.
void check_profile_of(const profiles::Profile& profile, const graph::Graph& graph, const plan::Job& job);

/// Throws InputError if a profile is of more cores than this machine has.
void check_cores_of(const profiles::Profile& profile);

}  // namespace gnomon::tuner
