#pragma once

#include <optional>

#include "base/progress.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Reproduces GNNLab's Table VI as the survey prints it: sampling S, extraction E and training T of an epoch
/// for DGL, T_SOTA and GNNLab. No epochs are printed. They are assumed to be the sum of the stages for DGL
/// and T_SOTA, whose GPUs run one stage after another, and the longest stage for GNNLab, whose sampler and
/// trainer run side by side and whose trainer extracts ahead. The predictions are of the factored schedule
/// with one sampler and one trainer
/// - from GNNLab's own stages;
/// - from T_SOTA's column alone. S and T stay. E / (1 - H) is the time of extraction without a cache, where
///   H is T_SOTA's hit rate. Its cache ratio R gives the memory beside the topology, which GNNLab's trainer
///   has in addition; R and H together give the skew of accesses under a cache by out-degree, from which
///   follows the hit rate of the larger presampled cache. Where T_SOTA has no cache, the skew is the mean of
///   the model's other data sets.
/// `baselines` are predicted instead of the paper's own rows. Throws InputError if these lack a number.
Report reproduce_gnnlab(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress& progress);

}  // namespace gnomon::reproduce
