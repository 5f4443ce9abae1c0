#pragma once

#include <optional>
#include <vector>

#include "base/median.h"

namespace gnomon::profiles {

/// A quotient of times, with one value of each round. The median counts, because bursts of other programs
/// spoil single rounds.
class Ratio {
 public:
  void add(double value) { values_.push_back(value); }
  /// Returns none if no round measured it.
  std::optional<double> value() const {
    return values_.empty() ? std::nullopt : std::optional(base::median(values_));
  }

 private:
  std::vector<double> values_;
};

}  // namespace gnomon::profiles
