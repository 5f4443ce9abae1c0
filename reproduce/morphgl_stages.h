#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"
#include "reproduce/paper.h"

/// MorphGL's stages, inferred from its baselines' columns.
///
/// The stage times of each cell (a machine, a model, a data set) are inferred as follows; n is the number of
/// mini-batches of an epoch, S and D are the epochs of SALIENT and DUCATI divided by n.
///
/// - CPU batching, all workers together: C = S. SALIENT is bound by its workers in every cell.
/// - DUCATI runs GPU batching G and training M one after another: G + M = D. They are divided by the first
///   of these that is known: a printed time of GPU batching; the dispatcher's first ratio x of that machine
///   and data set, because equation 6 balances at x = (C - M) / (M + G), so M = C - x D in the cell for which
///   it is printed, and G = D - M for every model there (batches do not depend on the model); the mean share
///   G / D of the paper's cells with the same data set and model, with the same data set, or of all.
/// - The copy T: the share of SALIENT's epoch in which the link is busy (Table 5) times S. It is a property
///   of the data set and the link; other links are scaled by their PCIe generation.
/// - The part U of GPU batching that reads over the link: from DUCATI's row in the same way, as a share of G.
///
/// The profile of these times keeps one core for the main process (section 5.1). Its machine is the catalog's
/// entry for the paper's machine, so that `gnomon explore --machine` can scale it. The tuner's dispatcher
/// chooses the buffers on it and the simulator runs the dual-buffer schedule: both are the product's own. Two
/// numbers are fitted (HostContention), the same for all machines, models and data sets.
namespace gnomon::reproduce {

/// A cell of a table of epochs.
struct MorphglCell {
  std::string table;
  std::string machine;
  std::string model;
  std::string dataset;
  std::string device_memory_gb;  ///< empty: all the device has

  std::string name() const;
  Labels labels() const;
};

/// Returns the cells of which the paper has both baselines, SALIENT and DUCATI.
std::vector<MorphglCell> morphgl_cells(const Paper& paper);

/// Inferred times of one batch.
struct MorphglStages {
  double cpu_batch_s = 0;  ///< of all workers together
  double device_batch_s = 0;
  double device_batch_link_s = 0;
  double transfer_s = 0;
  double train_s = 0;
};

/// Infers the stages of a cell. Throws InputError if the two columns cannot be of one machine (a ratio that
/// leaves a stage no time).
MorphglStages infer_stages(const Paper& paper, const MorphglCell& cell);

/// Mutual slowdown of batching on CPU and GPU, which both read host memory at random.
struct HostContention {
  double cpu_batch_beside_device_batch = 1;
  double device_batch_beside_cpu_batch = 1;  ///< for each CPU worker that runs
  bool operator==(const HostContention&) const = default;
};

/// Fitted on Table 4's 18 cells of machines A and B (cross_validate_morphgl finds it).
inline constexpr HostContention fitted_contention{1.4, 1.03};

/// Returns the profile of a cell.
profiles::Profile morphgl_profile(const Paper& paper, const MorphglCell& cell,
                                  const HostContention& contention);

}  // namespace gnomon::reproduce
