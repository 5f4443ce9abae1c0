#pragma once

#include <optional>
#include <span>

#include "schedule/machine.h"

namespace gnomon::profiles {

/// Estimates the slowdown of a stage while another stage runs concurrently. The stage is run alone and beside
/// others, with which it overlaps partially; with a slowdown s
///
///     alone time = rest + overlapped / s,   so   s = overlapped / (alone time - rest),
///
/// over the sums of all observations, which weights each by its overlap.
class Slowdown {
 public:
  /// Adds a stage that takes `alone_s` alone and ran as `span` beside the spans `beside` on other engines,
  /// which do not overlap one another.
  void add(double alone_s, const schedule::StageSpan& span, std::span<const schedule::StageSpan> beside);

  /// Returns the slowdown, clamped to 1 … 10. None without overlap, and if noise dominates: the parts without
  /// overlap took as long as the whole stage does alone.
  std::optional<double> value() const;

 private:
  double alone_s_ = 0;
  double rest_s_ = 0;
  double overlapped_s_ = 0;
};

}  // namespace gnomon::profiles
