#pragma once

#include <optional>

#include "plan/plan.h"

namespace gnomon::sim {

/// Returns a measured bandwidth or rate that the plan's prediction requires. Throws InputError if it is
/// unknown.
double needed(std::optional<double> value, const char* field, const plan::Plan& plan);

}  // namespace gnomon::sim
