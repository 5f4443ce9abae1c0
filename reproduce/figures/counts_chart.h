#pragma once

#include <optional>
#include <string_view>

#include "profiles/profile.h"
#include "reproduce/figures/chart.h"

namespace gnomon::reproduce {

/// Draws a measurement of how often mini-batches use each vertex, from a workload that was measured; none if
/// `measure` is not the name of one:
///   - hit_curves: hits in per cent against the share of rows that is cached;
///   - hits_of_a_tenth: hits with a tenth of the rows cached;
///   - missed_bytes: megabytes of a mini-batch that no cache answers against the rows' columns, with a cache
///     of as many bytes as a tenth of the rows with 100 columns;
///   - overlap: how alike two epochs' accesses are, in per cent.
/// Throws InputError for a workload without the counts.
std::optional<Chart> counts_chart(std::string_view measure, const profiles::WorkloadProfile& workload);

}  // namespace gnomon::reproduce
