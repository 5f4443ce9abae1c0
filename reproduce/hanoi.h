#pragma once

#include <string>

#include "base/progress.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Returns the bytes of a data set of Table 4.4 in memory: ids of 64 bits, as in PyG, and features.
double hanoi_dataset_bytes(const Paper& paper, const std::string& dataset);

/// Reproduces the memory of in-memory training in Hanoi's Table 4.1 from the graph's size (Table 4.4), with
/// the simulator's model of memory. The tables print runtimes only as the largest of all ratios.
Report reproduce_hanoi(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
