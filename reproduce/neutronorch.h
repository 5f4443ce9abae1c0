#pragma once

#include <optional>

#include "base/progress.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Reproduces NeutronOrch's three effects (section 5.4), and its Tables 6 and 7, from DGL's columns
/// (neutronorch_profile):
/// - L, the layer split: the CPU computes the bottom layer of all vertices of each batch, then the GPU the
///   rest;
/// - H, hot embeddings: the preset, whose CPU computes that layer of the hot vertices once a super-batch, one
///   after the other;
/// - S, super-batches: the preset's schedule.
///
/// The length of a super-batch is not printed. The preset's 16 is fitted to the three effects; the report
/// also shows them for 4, where hot embeddings gain too little. Rows of Table 7 whose own cell is unknown are
/// predicted too.
///
/// `baselines` are predicted instead of the paper's own rows. Throws InputError if these lack a number.
Report reproduce_neutronorch(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                             const base::Progress& progress);

}  // namespace gnomon::reproduce
