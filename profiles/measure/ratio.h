#pragma once

#include <algorithm>
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
  /// What three of four rounds reach: for slowdowns of at least 1 that noise makes appear larger, where
  /// stages overlap for a small part of their times.
  std::optional<double> lower_quartile() const {
    if (values_.empty()) {
      return std::nullopt;
    }
    auto sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 4];
  }
  /// One of each round that measured it.
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

}  // namespace gnomon::profiles
