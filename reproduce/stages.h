#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "sim/prediction.h"

namespace gnomon::reproduce {

/// An epoch of the simulator in which every batch takes these times: one worker, one copy lane, one device.
/// With Schedule::sequential they follow one another; with Schedule::pipelined each lane works on a batch of
/// its own, so the epoch is that of the slowest, filling and draining included.
double simulate_stages(sim::Simulator& simulator, plan::Schedule schedule, const sim::StageCosts& costs,
                       std::int64_t batches);

}  // namespace gnomon::reproduce
