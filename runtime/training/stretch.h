#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {

/// Successive mini-batches of one epoch, trained by one plan. An epoch has several stretches if plans are
/// compared while it is trained: plans that train in the order of the indices end with the same bits wherever
/// one replaces another.
struct Stretch {
  plan::Plan plan;  ///< resolved
  std::int64_t batches = 0;
};

/// The result of a trained stretch.
struct StretchReport {
  Stretch stretch;
  std::int64_t epoch = 0;
  schedule::EpochLog log;                     ///< `trained` has batches of the epoch
  std::vector<schedule::StageSpan> timeline;  ///< of batches of the epoch
  double filling_s = 0;                       ///< in `log`'s time, of filling caches after the first training
};

/// The plan for a replay: it trains the mini-batches in the order in which they are listed.
plan::Plan in_given_order(plan::Plan plan);

}  // namespace gnomon::runtime
