#pragma once

#include <vector>

#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// Estimates the work of one mini-batch by kind, from the mean sizes in its profile (hops, edges, vertices,
/// row bytes) and the model's shape. Only proportions matter, as times are calibrated by the measured
/// machine.
///
/// Sampling: cache lines of adjacency lists, hash table inserts, and integer work per edge.
std::vector<Amount> sampling_work(const WorkloadProfile& workload);
/// Copying the feature rows of the mini-batch's vertices.
std::vector<Amount> gathering_work(const WorkloadProfile& workload);
/// A training step: products, aggregation, passes over activations, and calls of operations. The shapes of
/// layers follow from the job; the number of classes is not in a profile and is assumed to be 16.
std::vector<Amount> training_work(const WorkloadProfile& workload);

/// The equivalent amount on a GPU; none if GPUs have no such kind.
std::optional<Amount> on_gpu(const Amount& amount);

}  // namespace gnomon::profiles
