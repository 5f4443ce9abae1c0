#pragma once

#include <string>

#include "plan/plan.h"

namespace gnomon::tuner {

/// Checks that a resumed run may continue with another plan, which must train the same mini-batches. Throws
/// InputError that names `where` and the first differing field that changes the mini-batches, with both
/// values.
void check_resumed_plan(const plan::Plan& own, const plan::Plan& now, const std::string& where);

}  // namespace gnomon::tuner
