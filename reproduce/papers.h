#pragma once

#include <optional>

#include "base/progress.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

/// One function a paper, in the file of its name. MorphGL's, which does more, is in reproduce/morphgl.h. All
/// predictions are those of the simulator for the presets (plan/presets), unless it says otherwise. With
/// `baselines`, predicted are the rows for the models and data sets of which these have columns, on the
/// paper's machine; they come before the paper's own where both have a number. Throw InputError where these
/// lack a number.
namespace gnomon::reproduce {

/// The table of rows that a user gave the baselines of.
inline constexpr const char* given_table = "given";

/// GNNLab's Table VI as the survey prints it: sampling S, extraction E and training T of an epoch, for DGL,
/// T_SOTA and GNNLab. No epochs are printed. They are taken to be: the sum of the stages for DGL and T_SOTA,
/// whose GPUs do one after the other; the longest stage for GNNLab, whose sampler and trainer work side by
/// side and whose trainer extracts ahead. Predicted is the factored schedule with one sampler and one trainer
/// - from GNNLab's own stages;
/// - from T_SOTA's column alone. S and T stay. E / (1 - H) is what extraction takes without a cache, H being
///   T_SOTA's hits. Its cache ratio R tells the room beside the topology, which GNNLab's trainer has in
///   addition; and R and H tell the skew of accesses under a cache by out-degree, from which follows what a
///   presampled one of the larger size answers. Where T_SOTA has no cache, the skew is the mean of the
///   model's other data sets.
Report reproduce_gnnlab(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress& progress);

/// DUCATI's Table VIII, iterations as the survey prints them, from DGL's and SOTA's columns. DGL reads
/// adjacency lists and rows of F columns over the link: t = c + f F. Its rows for 128 and 256 columns give c,
/// the part that no feature cache helps; SOTA's hits are 1 - (SOTA - c) / (f F), between 0 and 1, and with
/// the size of its cache give the skew of rows. The skew of adjacency lists is that of section VII-A. What
/// neither column tells is how much of c is the reading of adjacency lists, which only DUCATI caches: that
/// share is the mean of those with which the simulator gives the printed DUCATI iterations of the *other*
/// data sets with the same fanouts. A row's own DUCATI cell never goes into its prediction.
Report reproduce_ducati(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress& progress);

/// NeutronOrch's three effects (section 5.4), and Tables 6 and 7, from DGL's columns (neutronorch_profile):
/// - L, the layer split: the CPU does the bottom layer of all vertices of each batch, the GPU the rest, one
///   after the other;
/// - H, hot embeddings: the preset, in which the CPU does that of the hot vertices once a super-batch; also
///   one after the other;
/// - S, super-batches: the preset's schedule.
/// How long a super-batch is is not printed: the effects are also given for 4 instead of the preset's 16.
/// Table 7 (batch sizes) likewise, also where NeutronOrch's own cell is not known.
Report reproduce_neutronorch(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                             const base::Progress& progress);

/// A3GNN's tables name no stage time and no configuration: nothing follows from the baselines' columns.
Report reproduce_a3gnn(sim::Simulator& simulator, const base::Progress& progress);

/// Hanoi's tables give runtimes only as the largest of all ratios. Predicted is the memory of training
/// without it (Table 4.1), by the simulator's model of memory from the graph's size (Table 4.4).
Report reproduce_hanoi(sim::Simulator& simulator, const base::Progress& progress);

/// Joestar's Table 5.1: how much of the time the GPU runs kernels, for GCN with batches of 8,000 from the row
/// for 1,000. Not simulated: launching leaves a gap between kernels that does not depend on their length;
/// memory kernels are as many in both.
Report reproduce_joestar(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
