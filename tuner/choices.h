#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.h"

namespace gnomon::tuner {

/// More plans than this are not tried one by one: first workers and device threads are chosen with the
/// preset's buffers, then buffers and look-ahead.
inline constexpr std::size_t most_exhaustive = 600;

/// The resolved plans that a preset stands for on such a machine, those with fewer resources first. Fields
/// that its schedule does not use stay as they are; so do a dual-buffer's buffers, which the dispatcher
/// chooses.
std::vector<plan::Plan> choices(const plan::Plan& preset, const plan::Cores& cores);

}  // namespace gnomon::tuner
