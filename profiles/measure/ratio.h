#pragma once

#include <optional>
#include <vector>

#include "base/median.h"

namespace gnomon::profiles {

/// A ratio of times with one value per round. The median is used, because bursts of other programs distort
/// single rounds.
class Ratio {
 public:
  void add(double value) { values_.push_back(value); }
  /// The median; none if no round measured it.
  std::optional<double> value() const {
    return values_.empty() ? std::nullopt : std::optional(base::median(values_));
  }

 private:
  std::vector<double> values_;
};

}  // namespace gnomon::profiles
