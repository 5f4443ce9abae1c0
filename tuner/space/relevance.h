#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "tuner/space/fields.h"

namespace gnomon::tuner {

/// Whether a field of a plan makes a difference beside the plan's other fields, on such a machine. The
/// categories that it depends on come before it in the space.
bool matters(const std::string& path, const plan::Plan& plan, const plan::Cores& cores);

/// The values of a field that are worth trying, rising.
std::vector<double> usual_values(const Field& field, const plan::Cores& cores, std::int64_t batches);

/// Categories in the order in which they are chosen: those first on which whether others matter depends.
std::vector<std::string> deciding_categories();

}  // namespace gnomon::tuner
