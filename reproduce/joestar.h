#pragma once

#include "base/progress.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Predicts from Joestar's Table 5.1 which share of the time the GPU runs kernels, for GCN with batches of
/// 8,000 from the row for 1,000. This is not simulated: each launch leaves a gap between kernels that does
/// not depend on their length, and both rows have as many kernels that move memory as kernels that compute.
Report reproduce_joestar(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
