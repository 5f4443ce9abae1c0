#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "schedule/machine.h"

namespace gnomon::sim {

/// The period of a schedule: from some update on, the same stages recur after `updates` updates and `seconds`
/// seconds. Counts cover the stages of one period's batches; busy times also cover stages of several batches.
struct Period {
  std::int64_t updates = 0;
  double seconds = 0;
  double error_s = 0;  ///< maximum difference between two periods
  std::array<double, schedule::num_stages> counts{};
  std::array<double, schedule::num_stages> busy_s{};
};

/// Returns the shortest period in the stages of an epoch, or of its beginning (schedule::TracedMachine's
/// order), that holds from its first third to the last started batch, at least three times, and that predicts
/// `updates` further updates with an error of less than `tolerance` of their time. Updates are compared by
/// their batches' stage times relative to their training. None if there is no period, for instance if the
/// routes' rates are incommensurable.
std::optional<Period> find_period(const std::vector<schedule::StageSpan>& timeline, std::int64_t updates,
                                  double tolerance);

/// Whether a plan's schedule can repeat itself. Not if routes are random, or if the work for a group of
/// batches depends on the length of the epoch.
bool can_repeat(const plan::Plan& plan);

/// The number of batches after which to look for a period first: several times the number in flight.
std::int64_t min_batches_for_period(const plan::Plan& plan);

}  // namespace gnomon::sim
