#pragma once

#include <optional>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

struct Prediction;

/// Energy and money of one epoch; absent where the profile lacks the numbers.
struct Consumption {
  std::optional<double> energy_j;
  std::optional<double> price;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("energy_j", self.energy_j);
    f("price", self.price);
  }
};

/// The energy and price of a resolved plan's predicted epoch. The idle power is drawn throughout, and each
/// busy core and device adds to it; a core that waits for memory counts as busy. Absent for a plan that does
/// not fit in memory.
Consumption consumption_of(const profiles::Profile& profile, const plan::Plan& plan,
                           const Prediction& prediction);

}  // namespace gnomon::sim
