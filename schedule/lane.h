#pragma once

#include <string>

#include "schedule/machine.h"

namespace gnomon::schedule {

/// Returns the engine of a span, as a chart of a timeline names its lanes: "worker 2", "copies", "device 1".
std::string lane_of(const StageSpan& span);

}  // namespace gnomon::schedule
