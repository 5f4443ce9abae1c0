#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "schedule/machine.h"

namespace gnomon::sim {

/// A schedule that repeats itself: from some update on, `updates` updates later the same stages run at the
/// same distances, `seconds` later. Counts are of the stages of one period's batches, busy times also
/// of what is done for several.
struct Period {
  std::int64_t updates = 0;
  double seconds = 0;
  double error_s = 0;  ///< by how much two periods differ at most
  std::array<double, schedule::num_stages> counts{};
  std::array<double, schedule::num_stages> busy_s{};
};

/// The shortest period in the stages of an epoch, or of its beginning (schedule::TracedMachine's order), that
/// holds from its first third to where nothing is left to be begun, at least three times, and by which
/// `updates` more can be told with an error of less than `tolerance` of their time. For each update the
/// stages of its batch count, relative to its training. Nothing when there is none, as where the routes'
/// paces have no common measure.
std::optional<Period> find_period(const std::vector<schedule::StageSpan>& timeline, std::int64_t updates,
                                  double tolerance);

/// Whether a plan's schedule can repeat itself. It cannot if routes are drawn at random, or if the work for a
/// group of batches depends on the length of the epoch.
bool can_repeat(const plan::Plan& plan);

/// The number of batches after which a first period is looked for: several times what is in flight.
std::int64_t min_batches_for_period(const plan::Plan& plan);

}  // namespace gnomon::sim
