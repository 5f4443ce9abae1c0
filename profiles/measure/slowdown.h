#pragma once

#include <optional>
#include <span>

#include "schedule/machine.h"

namespace gnomon::profiles {

/// The slowdown of a stage while something else runs beside it. The stage is run alone and beside others,
/// with which only parts of it overlap; with a slowdown s
///
///     alone time = rest + overlapped / s,   so   s = overlapped / (alone time - rest),
///
/// over all observations together, which weighs each by its overlap.
class Slowdown {
 public:
  /// Adds a stage that takes `alone_s` alone and ran as `span` beside the spans `beside` on other engines,
  /// which do not overlap one another.
  void add(double alone_s, const schedule::StageSpan& span, std::span<const schedule::StageSpan> beside);

  /// Returns the slowdown, from 1 (a neighbour is no help) to 10. None without overlap, and where noise
  /// exceeds the work: the parts without overlap took as long as all of it does alone.
  std::optional<double> value() const;

 private:
  double alone_s_ = 0;
  double rest_s_ = 0;
  double overlapped_s_ = 0;
};

}  // namespace gnomon::profiles
