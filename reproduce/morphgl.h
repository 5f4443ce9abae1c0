#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "profiles/profile.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"
#include "tuner/search/dispatcher.h"

/// MorphGL's tables (PVLDB 19(6), 2026) from its baselines' columns.
///
/// What a stage takes is inferred for each cell (a machine, a model, a data set) as follows; n is the number
/// of mini-batches an epoch, S and D the epochs of SALIENT and DUCATI divided by n.
///
/// - CPU batching, all workers together: C = S. SALIENT is bound by its workers in every cell.
/// - GPU batching G and training M follow one another in DUCATI: G + M = D. What divides them is, in this
///   order: a printed time of GPU batching; the dispatcher's first ratio x of that machine and data set, for
///   at the ratio of equation 6's balance x = (C - M) / (M + G), so M = C - x D in the cell it is printed
///   for, and G = D - M for every model there (batches do not depend on the model); else the mean share G / D
///   of the paper's cells with the same data set and model, the same data set, or all.
/// - The copy T: the share of SALIENT's epoch in which the link is busy (Table 5) times S, a property of the
///   data set and the link; of other links by their generation.
/// - The part U of GPU batching in which it reads over the link: likewise from DUCATI's row, as a share of G.
///
/// These times make a profile with one core kept for the main process (section 5.1). The tuner's dispatcher
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

/// Cells of which the paper has both baselines, SALIENT and DUCATI.
std::vector<MorphglCell> morphgl_cells(const Paper& paper);

/// Seconds a batch, as inferred.
struct MorphglStages {
  double cpu_batch_s = 0;  ///< of all workers together
  double device_batch_s = 0;
  double device_batch_link_s = 0;
  double transfer_s = 0;
  double train_s = 0;
};

/// Throws InputError when the two columns cannot be true of one machine (a ratio that leaves a stage no
/// time).
MorphglStages infer_stages(const Paper& paper, const MorphglCell& cell);

/// How batching by CPU and by GPU slow each other while both run, for both read host memory at random.
struct HostContention {
  double cpu_batch_beside_device_batch = 1;
  double device_batch_beside_cpu_batch = 1;  ///< for each CPU worker that runs
  bool operator==(const HostContention&) const = default;
};

/// Fitted on Table 4's 18 cells of machines A and B (cross_validate_morphgl finds it).
inline constexpr HostContention fitted_contention{1.4, 1.03};

/// The stages as a profile of the machine.
profiles::Profile morphgl_profile(const Paper& paper, const MorphglCell& cell,
                                  const HostContention& contention);

/// MorphGL's epoch in a cell, with the buffers its dispatcher ends with.
tuner::DispatcherResult predict_morphgl(sim::Simulator& simulator, const profiles::Profile& profile);

/// Tables 4, 5 and 6 of machines A and B; or, with `baselines`, MorphGL's epochs and buffers in all cells of
/// which they have both baselines.
Report reproduce_morphgl(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                         const base::Progress& progress);

/// A fit on some cells and its error on the others.
struct Validation {
  std::string left_out;
  HostContention contention;
  double error = 0;  ///< mean absolute relative error of the cells left out
  int cells = 0;
};

/// Fits the contention once on all cells and then without each data set, and without each machine, in turn,
/// by trying a grid of (steps + 1)^2 points: CPU batching up to twice as slow, GPU batching up to 5 % for
/// each worker.
std::vector<Validation> cross_validate_morphgl(sim::Simulator& simulator, const base::Progress& progress,
                                               int steps = 10);

}  // namespace gnomon::reproduce
