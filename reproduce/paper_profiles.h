#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"
#include "reproduce/paper.h"

/// Papers' workloads on papers' machines as profiles: what was printed of the baselines, taken apart into
/// stages.
namespace gnomon::reproduce {

/// A stage that took `mean_s` a batch. `deviation`: of batches, relative to the mean.
profiles::StageTime stage_time(double mean_s, double deviation = 0);

/// NeutronOrch's machine with one GPU and a data set of its Table 2, from DGL's column: sampling S,
/// collecting FC, transfer FT, and training T, which is what the total leaves. Everything of an epoch is
/// divided by its batches; the CPU as a whole is what all workers together do.
/// - cpu_batch: S + FC; sampling is S of it.
/// - transfer: FT. device_batch: S / rho, where rho is how much faster the GPU samples (Table 3), and FT, for
///   the rows come over the same link without being collected.
/// - refreshing the bottom layer of all of a batch's vertices: its printed share of the work, of S, and FC,
///   for nearly all rows are those of the bottom layer.
/// - With more layers than three all times grow as the epochs of the first baseline that ran both (Table 6).
/// - How many different vertices a batch has is not printed; it is as if all were drawn alike.
/// - How unevenly vertices are used is not printed either; the skew is the mean of GNNLab's rows (Table VI).
/// Throws Failure for a data set or depth without numbers.
profiles::Profile neutronorch_profile(const Paper& paper, const std::string& dataset, int layers = 3);

/// The skew with which a presampled cache of that share answers that share of accesses (sim::hit_share).
double skew_of(plan::CachePolicy policy, double share, double hits);

/// Names of the profiles that papers' numbers make complete: "morphgl/A/GCN/PA", "neutronorch/Reddit".
std::vector<std::string> profile_names();

/// One of them by its name or, when `name` ends in .json, a file that gnomon profile wrote. Throws
/// InputError.
profiles::Profile find_profile(const std::string& name);

}  // namespace gnomon::reproduce
