#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "profiles/profile.h"
#include "reproduce/paper.h"

/// Papers' workloads on papers' machines as profiles: what was printed of the baselines, taken apart into
/// stages.
namespace gnomon::reproduce {

/// A stage that took `mean_s` a batch. `deviation`: of batches, relative to the mean.
profiles::StageTime stage_time(double mean_s, double deviation = 0);

/// The data set of that name with numbers for all of `keys`. Throws InputError.
const Entry& dataset_with(const Paper& paper, const std::string& name,
                          std::initializer_list<const char*> keys);

/// The row that must be there to predict `what`; throws InputError that names its labels.
double baseline_at(const Paper& paper, const Labels& wanted, const std::string& what);

/// NeutronOrch's machine with one GPU and a data set of its Table 2, from DGL's column: sampling S,
/// collecting FC, transfer FT, and training T, which is what the total leaves. Everything of an epoch is
/// divided by its batches; the CPU as a whole is what all workers together do.
/// - cpu_batch: S + FC; sampling is S of it.
/// - transfer: FT. device_batch: S / rho, where rho is how much faster the GPU samples (Table 3), and FT, for
///   the rows come over the same link without being collected.
/// - refreshing the bottom layer of all of a batch's vertices: its printed share of the work, of S, and FC,
///   for nearly all rows are those of the bottom layer.
/// - With other layers than three, or other batches than of 1,024, all of an epoch's times grow as the epochs
///   of the first baseline that ran both (Tables 6 and 7); the bottom layer's share does not depend on the
///   batch's size, for its fanouts do not.
/// - How many different vertices a batch has is not printed; it is as if all were drawn alike.
/// - How unevenly vertices are used is not printed either; the skew is the mean of GNNLab's rows (Table VI).
/// Throws InputError for a data set, depth or size without the numbers that this takes.
struct NeutronorchSetting {
  std::string dataset;
  int layers = 3;
  int batch_size = 1024;
};
profiles::Profile neutronorch_profile(const Paper& paper, const NeutronorchSetting& setting);

/// A system's epoch with that depth (Table 6) or with batches of that size (Table 7); none where it is not
/// printed.
std::optional<double> neutronorch_epoch_s(const Paper& paper, const NeutronorchSetting& setting,
                                          const char* system);

/// How much longer an epoch takes than with three layers and batches of 1,024, by the first baseline that ran
/// both; none without any.
std::optional<double> neutronorch_growth(const Paper& paper, const NeutronorchSetting& setting);

/// The skew with which a presampled cache of that share answers that share of accesses (sim::hit_share).
double skew_of(plan::CachePolicy policy, double share, double hits);

/// Names of the profiles that papers' numbers make complete: "morphgl/A/GCN/PA", "neutronorch/Reddit".
std::vector<std::string> profile_names();

/// One of them by its name or, when `name` ends in .json, a file that gnomon profile wrote. Throws
/// InputError.
profiles::Profile find_profile(const std::string& name);

}  // namespace gnomon::reproduce
