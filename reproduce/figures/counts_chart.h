#pragma once

#include <optional>
#include <string_view>

#include "profiles/profile.h"
#include "reproduce/figures/chart.h"

namespace gnomon::reproduce {

/// Draws a measurement of the accesses of mini-batches from a measured workload; absent if `measure` is none
/// of these:
///   - hit_curves: hits in per cent against the share of the rows that is cached;
///   - hits_of_a_tenth: hits with a tenth of the rows cached;
///   - missed_bytes: megabytes of a mini-batch that miss the cache against the number of columns, with a
///     cache of the size of a tenth of the rows with 100 columns;
///   - overlap: the similarity of two epochs' accesses, in per cent.
/// Throws InputError for a workload without the counts.
std::optional<Chart> counts_chart(std::string_view measure, const profiles::WorkloadProfile& workload);

}  // namespace gnomon::reproduce
