#pragma once

#include <optional>

#include "profiles/stage_times.h"

namespace gnomon::profiles {

/// Multiplies what is known.
inline void scale(std::optional<double>& part, double factor) {
  if (part) {
    *part *= factor;
  }
}

/// Multiplies the mean, the spread and the precision of a stage's time.
inline void scale(StageTime& time, double factor) {
  for (double StageTime::*part : {&StageTime::mean_s, &StageTime::deviation_s, &StageTime::p5_s,
                                  &StageTime::p50_s, &StageTime::p95_s, &StageTime::interval_s}) {
    time.*part *= factor;
  }
}

}  // namespace gnomon::profiles
