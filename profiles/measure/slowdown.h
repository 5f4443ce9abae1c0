#pragma once

#include <span>

#include "schedule/machine.h"

namespace gnomon::profiles {

/// How many times longer a stage takes while something else runs beside it. Of stages that were run both
/// alone and beside others, only parts overlapped; with a slowdown s
///
///     alone time = rest + overlapped / s,   so   s = overlapped / (alone time - rest),
///
/// over all observations together, which weighs each by its overlap.
class Slowdown {
 public:
  /// A stage that takes `alone_s` by itself ran as `span` while `beside`, spans that do not overlap one
  /// another, ran on other engines.
  void add(double alone_s, const schedule::StageSpan& span, std::span<const schedule::StageSpan> beside);

  /// From 1 (a neighbour does not speed up) to 10; 1 without observations.
  double value() const;

 private:
  double alone_s_ = 0;
  double rest_s_ = 0;
  double overlapped_s_ = 0;
};

}  // namespace gnomon::profiles
