#pragma once

#include <vector>

#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// The work of one mini-batch by kind: what the profile holds (WorkloadProfile::work) or, without that, an
/// estimate from the mean sizes in the profile (hops, edges, vertices, row bytes) and the model's shape. Only
/// proportions matter, as times are calibrated by the measured machine. The estimate's few constants were
/// chosen by the times of five jobs on two kinds of machine (bench/results/machines.json).
///
/// Drawing neighbours: a line of the adjacency lists and the generator's work for each edge.
std::vector<Amount> sampling_work(const WorkloadProfile& workload);
/// Copying the feature rows of the mini-batch's vertices to the mini-batch.
std::vector<Amount> gathering_work(const WorkloadProfile& workload);
/// A training step: products, aggregation, passes over operands and activations, dropout, and calls of
/// operations. The shapes of layers follow from the job; the number of classes is not in a profile and is
/// assumed to be 16.
std::vector<Amount> training_work(const WorkloadProfile& workload);
/// All three.
BatchWork batch_work(const WorkloadProfile& workload);

/// Floating-point operations of the dense products of a training step, without those of the last layer, whose
/// width profiles do not hold. 0 for profiles without hops and for features in sparse rows.
double product_flops(const WorkloadProfile& workload);

/// Elements of the weights of all layers, and of the activations that a training step holds at its peak, for
/// how they change with the model's shape: as training_work() counts them, with the last layer's assumed
/// width.
double weight_elements(const WorkloadProfile& workload);
double activation_elements(const WorkloadProfile& workload);

/// Whether a mini-batch takes its features as sparse rows: they are smaller than dense ones of fp16 would be.
bool has_sparse_rows(const WorkloadProfile& workload);

/// The equivalent amount on a GPU; none if GPUs have no such kind.
std::optional<Amount> on_gpu(const Amount& amount);

}  // namespace gnomon::profiles
