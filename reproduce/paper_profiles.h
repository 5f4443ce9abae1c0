#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "profiles/profile.h"
#include "reproduce/paper.h"

/// Profiles of papers' workloads on papers' machines, from the printed columns of the baselines.
namespace gnomon::reproduce {

/// Returns a stage that takes `mean_s` per batch with the standard deviation `deviation`, relative to the
/// mean.
profiles::StageTime stage_time(double mean_s, double deviation = 0);

/// GNNLab and DUCATI print sizes in GiB and call them GB: the products of rows, columns and bytes say so.
inline constexpr double gib = 1024.0 * 1024.0 * 1024.0;

/// Returns how many edges a topology of that size has in the simulator's model of memory; at least 0.
std::int64_t edges_within(double topology_bytes, std::int64_t vertices);

/// Returns the data set of that name. Throws InputError unless it has numbers above 0 for all of `keys`.
const Entry& dataset_with(const Paper& paper, const std::string& name,
                          std::initializer_list<const char*> keys);

/// Returns the number of a row without which `what` cannot be predicted. Throws InputError that names its
/// labels.
double baseline_at(const Paper& paper, const Labels& wanted, const std::string& what);

/// Returns the skew with which a cache of that share answers `hits` of all accesses (sim::hit_share).
double skew_of(plan::CachePolicy policy, double share, double hits);

/// Returns the names of the profiles that papers' numbers complete: "morphgl/A/GCN/PA", "neutronorch/Reddit".
std::vector<std::string> profile_names();

/// Returns one of them by its name or, if `name` ends in .json, reads a profile's file. Throws InputError.
profiles::Profile find_profile(const std::string& name);

}  // namespace gnomon::reproduce
