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

/// What a resolved plan's predicted epoch consumes. The idle machine draws power throughout, each core and
/// each device more while it is busy; a core that waits for memory counts as busy. Nothing for a plan that
/// does not fit in memory.
Consumption consumption_of(const profiles::Profile& profile, const plan::Plan& plan,
                           const Prediction& prediction);

}  // namespace gnomon::sim
