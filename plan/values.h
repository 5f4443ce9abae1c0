#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plan/rules.h"

namespace gnomon::plan {

/// Returns values in [min, max]: 0 if it is in the range, then powers of two and, from 2 on, the midpoints
/// between them: 0, 1, 2, 3, 4, 6, 8, 12, 16 …
std::vector<double> log_steps(double min, double max);

/// Worker counts to try: every one up to 16, then in steps of about an eighth; the last is `cores`.
std::vector<int> worker_choices(int cores);

/// Device threads to try: the powers of two and all cores; only 1 where the device does not run on the cores.
std::vector<int> thread_choices(const Cores& cores);

/// The values of a field that a search tries, ascending; categories as positions of their names. `batches`:
/// mini-batches of an epoch.
std::vector<double> values_to_try(const Rule& rule, const Cores& cores, std::int64_t batches);

}  // namespace gnomon::plan
