#pragma once

#include <optional>
#include <string>

#include "base/progress.h"
#include "profiles/profile.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Reproduces DUCATI's Table VIII, iterations as the survey prints them, from DGL's and SOTA's columns. DGL
/// reads adjacency lists and rows of F columns over the link: t = c + f F. Its rows for 128 and 256 columns
/// give c, the part that no feature cache reduces; SOTA's hit rate is 1 - (SOTA - c) / (f F), between 0 and
/// 1, and gives the skew of rows together with the size of its cache. The skew of adjacency lists is that of
/// section VII-A. Neither column tells how much of c reads adjacency lists, which only DUCATI caches: that
/// share is the mean of the shares with which the simulator gives the printed DUCATI iterations of the
/// *other* data sets with the same fanouts. A row's own DUCATI cell never enters its prediction.
///
/// `baselines` are predicted instead of the paper's own rows. Throws InputError if these lack a number.
Report reproduce_ducati(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress& progress);

/// Returns the profile of a row of Table VIII for plans that cache features only: how much of the rest reads
/// adjacency lists makes no difference to them. Its epoch is 100 iterations. Throws InputError if the row
/// lacks a number.
profiles::Profile ducati_profile(const Paper& paper, const std::string& dataset, const std::string& fanouts,
                                 const std::string& columns);

}  // namespace gnomon::reproduce
