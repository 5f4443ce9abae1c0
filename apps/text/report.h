#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/explore/exploration.h"

namespace gnomon::apps {

/// Maximum number of rows for which a report holds timelines, so that a page stays within a few megabytes.
inline constexpr std::size_t max_timelines = 200;

/// Writes one page that needs no network: the rows as a table, epochs and lower bounds by plan or against any
/// swept field, utilisations, and the start of each timeline. Atomic. Throws base::Failure.
void write_report(const std::filesystem::path& path, const std::vector<tuner::ExplorationRow>& rows,
                  tuner::RowOrder order);

}  // namespace gnomon::apps
