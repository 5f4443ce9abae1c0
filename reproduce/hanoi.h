#pragma once

#include "base/progress.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Reproduces the memory of in-memory training in Hanoi's Table 4.1 from the graph's size (Table 4.4), with
/// the simulator's model of memory. The tables print runtimes only as the largest of all ratios.
Report reproduce_hanoi(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
