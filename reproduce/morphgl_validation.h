#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "reproduce/morphgl_stages.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// A fit of the contention on some cells and its error on the cells left out.
struct Validation {
  std::string left_out;
  HostContention contention;
  double error = 0;  ///< mean absolute relative error of the cells left out
  int cells = 0;
};

/// Fits the contention on all cells, where the error is in-sample, then without each data set and without
/// each machine in turn. The fit tries a grid of (steps + 1)^2 points: CPU batching up to twice as slow, GPU
/// batching up to 5 % slower for each worker.
std::vector<Validation> cross_validate_morphgl(sim::Simulator& simulator, const base::Progress& progress,
                                               int steps = 10);

}  // namespace gnomon::reproduce
