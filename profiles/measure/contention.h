#pragma once

#include <optional>

#include "profiles/measure/rounds.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Returns what remains of a slowdown that was measured with one runnable thread more than there are `cores`,
/// without the fair share of the cores and without `beside`, the slowdown by the neighbour on a core of its
/// own (1 if absent); from 0.5 to 100. None if the slowdown was not measured.
std::optional<double> beyond_fair_share(std::optional<double> slowdown, std::optional<double> beside,
                                        int cores);

/// Returns the slowdowns that were measured on a machine of `cores` cores.
Contention contention_of(const Measured& measured, int cores);

}  // namespace gnomon::profiles
