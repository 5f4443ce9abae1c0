#pragma once

#include "base/progress.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// The survey's section on zero-copy reads (PyTorch-Direct) has no table of times; the report says so, and
/// its figures are drawn from the link and NeutronOrch's stage times.
Report reproduce_pytorch_direct(sim::Simulator& simulator, const base::Progress& progress);

}  // namespace gnomon::reproduce
