#pragma once

#include "base/progress.h"
#include "reproduce/report.h"
#include "sim/prediction.h"

/// One function a paper, in the file of its name. MorphGL's, which does more, is in reproduce/morphgl.h.
namespace gnomon::reproduce {

/// GNNLab's Table VI as the survey prints it: sampling S, extraction E and training T of an epoch, for DGL,
/// T_SOTA and GNNLab. No epochs are printed. They are taken to be: the sum of the stages for DGL and T_SOTA,
/// whose GPUs do one after the other; the longest stage, for GNNLab's sampler and trainer work side by side
/// and the trainer extracts ahead. Predicted is the schedule simulated batch by batch,
/// - from GNNLab's own stages;
/// - from T_SOTA's column alone and GNNLab's cache hit rate H: S and T stay, and E shrinks with the rows that
///   miss, (1 - H) / (1 - H of T_SOTA).
Report reproduce_gnnlab(sim::Simulator& simulator, const base::Progress& progress);

/// DUCATI's Table VIII, iterations as the survey prints them, from DGL's and SOTA's columns. DGL reads
/// adjacency lists and rows of F columns over the link: t = c + f F. Its rows for 128 and 256 columns give c,
/// the part that no feature cache helps. SOTA caches features only; DUCATI adds an adjacency cache that saves
/// a share of c. That share, for each fanout, is the mean over the *other* data sets of (SOTA - DUCATI) / c:
/// a row's own DUCATI cell never goes into its prediction.
Report reproduce_ducati(sim::Simulator& simulator, const base::Progress& progress);

/// NeutronOrch's three effects (section 5.4) and Table 6 from DGL's columns (Table 2: sampling S, collecting
/// FC, transfer FT, and training T, which is what the total leaves). With b the bottom layer's share of the
/// work and rho the speed-up of sampling by GPU (Table 3):
///
/// - DGL: S + FC + FT + T, one after the other.
/// - L, the layer split: the CPU samples the bottom hop (b S) and aggregates straight from the feature store,
///   reading the rows that collecting read (FC); embeddings of the middle layer's vertices travel instead of
///   the bottom layer's rows, FT (V_middle / V_bottom) (hidden / features); the GPU samples and trains the
///   rest, (1 - b)(S / rho + T), and does the bottom layer's backward, b T / 2.
/// - H, hot embeddings: hot vertices have q of all bottom-layer visits; only they go by the CPU, and one
///   embedding serves many visits, so its work shrinks to q r. The GPU does the cold ones, reading their rows
///   over the link: (1 - q)(b S / rho + FT + b T / 2).
/// - S, super-batches: CPU and GPU work side by side.
///
/// q is 0.84, the mean hit rate of GNNLab's caches of 13 to 32 % of the rows in the survey's Table VI; r is
/// fitted, 0.3.
Report reproduce_neutronorch(sim::Simulator& simulator, const base::Progress& progress);

/// A3GNN's tables name no stage time and no configuration: nothing follows from the baselines' columns.
Report reproduce_a3gnn(sim::Simulator& simulator, const base::Progress& progress);

/// Hanoi's tables give runtimes only as the largest of all ratios.
Report reproduce_hanoi(sim::Simulator& simulator, const base::Progress& progress);

/// Joestar's Table 5.1: how much of the time the GPU runs kernels, for GCN with batches of 8,000 from the row
/// for 1,000. Launching leaves a gap between kernels that does not depend on their length; memory kernels are
/// as many in both.
Report reproduce_joestar(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
