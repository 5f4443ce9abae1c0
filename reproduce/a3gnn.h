#pragma once

#include "base/progress.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Explains why no cell of A3GNN's tables is predicted: they print no stage time and no configuration, so
/// nothing follows from the baselines' columns.
Report reproduce_a3gnn(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
