#pragma once

#include <optional>

#include "profiles/measure/rounds.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Returns the residual of a slowdown measured with one more runnable thread than `cores`, after dividing out
/// the fair share of the cores and `beside`, the slowdown by the neighbour on a core of its own (1 if
/// absent); clamped to 0.5 … 100. None if the slowdown was not measured.
std::optional<double> beyond_fair_share(std::optional<double> slowdown, std::optional<double> beside,
                                        int cores);

/// Returns the slowdowns that were measured on a machine of `cores` cores with such a device. A GPU's stages
/// overlap for a small part of the CPU's preparation, so that what it is slowed down must show in most
/// rounds.
Contention contention_of(const Measured& measured, int cores, DeviceKind device);

}  // namespace gnomon::profiles
