#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/exploration.h"

namespace gnomon::apps {

/// Rows beyond which a report holds no timelines: a page of a few megabytes at most.
inline constexpr std::size_t most_timelines = 200;

/// Throws InputError where no charts can be drawn, because Chart.js was not there when gnomon was built.
void require_charts();

/// One page that needs no network: the rows as a table, epochs against any swept field or by plan beside
/// their lower bounds, utilisations, and where rows have timelines their beginnings. Atomic. Throws
/// base::Failure.
void write_report(const std::filesystem::path& path, const std::vector<ExplorationRow>& rows);

}  // namespace gnomon::apps
