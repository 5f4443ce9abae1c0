#pragma once

#include <string>

#include "plan/plan.h"

namespace gnomon::tuner {

/// A resumed run may go on with another plan as long as that trains the same mini-batches. Throws InputError
/// that names `where` and the first field by which `now` trains others than the run's own plan, with both
/// values.
void check_resumed_plan(const plan::Plan& own, const plan::Plan& now, const std::string& where);

}  // namespace gnomon::tuner
