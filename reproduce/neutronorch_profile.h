#pragma once

#include <optional>
#include <string>

#include "profiles/profile.h"
#include "reproduce/paper.h"

namespace gnomon::reproduce {

/// A row of NeutronOrch's Tables 6 and 7.
struct NeutronorchSetting {
  std::string dataset;
  int layers = 3;
  int batch_size = 1024;
};

/// Returns the profile of NeutronOrch's machine with one GPU for a data set of its Table 2, from DGL's
/// column: sampling S, collecting FC, transfer FT, and training T, which is the rest of the total. Times of
/// an epoch are divided by its batches; the CPU as a whole is all workers together.
/// - cpu_batch: S + FC; sampling is S of it.
/// - transfer: FT. device_batch: S / rho, where rho is the speed-up of sampling on the GPU (Table 3), plus
///   FT, because the rows come over the same link without being collected.
/// - Refreshing the bottom layer of all of a batch's vertices: its printed share of S, and FC, because nearly
///   all rows are those of the bottom layer.
/// - For other numbers of layers than three, or batches other than 1,024, all times of an epoch grow as the
///   epochs of the first baseline that ran both (Tables 6 and 7); the bottom layer's share depends on the
///   fanouts, not on the batch size.
/// - The number of different vertices of a batch is not printed; vertices are assumed to be drawn uniformly.
/// - The skew of accesses is not printed either; it is the mean of GNNLab's rows (Table VI).
/// Throws InputError for a data set, depth or batch size without these numbers.
profiles::Profile neutronorch_profile(const Paper& paper, const NeutronorchSetting& setting);

/// Returns a system's epoch with that depth (Table 6) or batch size (Table 7); none if it is not printed.
std::optional<double> neutronorch_epoch_s(const Paper& paper, const NeutronorchSetting& setting,
                                          const char* system);

/// Returns the epoch over that with three layers and batches of 1,024, by the first baseline that ran both;
/// none if no baseline did.
std::optional<double> neutronorch_growth(const Paper& paper, const NeutronorchSetting& setting);

}  // namespace gnomon::reproduce
