#pragma once

#include <optional>
#include <vector>

#include "profiles/measure/rounds.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Returns the residual of a slowdown measured with one more runnable thread than `cores`, after dividing out
/// the fair share of the cores and `beside`, the slowdown by the neighbour on a core of its own (1 if
/// absent); clamped to 0.5 … 100. None if the slowdown was not measured.
std::optional<double> beyond_fair_share(std::optional<double> slowdown, std::optional<double> beside,
                                        int cores);

/// Returns the slowdown within the limits of a profile's, 0.5 to 100; none if it was not measured.
std::optional<double> clamped(std::optional<double> slowdown);

/// Returns the slowdowns that were measured on a machine of `cores` cores with such a device, on which
/// workers have this efficiency. A GPU's stages overlap for a small part of the CPU's preparation, so that
/// what one worker is slowed down must show in most rounds.
Contention contention_of(const Measured& measured, const std::vector<ScalingPoint>& worker_efficiency,
                         int cores, DeviceKind device);

}  // namespace gnomon::profiles
